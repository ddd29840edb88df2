/* What changed from the last drawing to this one: by mobject, as tiles. */
#include "canvas.h"

void show(Shown *shown, Looks *looks) {
    if (shown->count == shown->room) {
        shown->room = shown->room ? 2 * shown->room : 256;
        shown->items = realloc(shown->items, shown->room * sizeof *shown->items);
    }
    shown->items[shown->count++] = looks;
}

void clear_shown(Shown *shown) {
    for (Py_ssize_t i = 0; i < shown->count; i++) drop_looks(shown->items[i]);
    shown->count = 0;
}

static void mark(Canvas *self, const Looks *looks) {
    const int *box = looks->box;
    for (int y = box[1]; y < box[3]; y++)
        if (box[2] > box[0])
            memset(self->dirty + y * self->view.across + box[0], 1, box[2] - box[0]);
}

/* -- finding a mobject among the old ones --------------------------------------------------- */

static Py_ssize_t slot_of(const Canvas *self, PyObject *mobject) {
    return (Py_ssize_t)(((uintptr_t)mobject >> 4) % self->slots);
}

static void index_old(Canvas *self) {
    Py_ssize_t count = self->old.count;
    if (self->heads) return;
    self->slots = 2 * count + 1;
    self->heads = malloc(self->slots * sizeof *self->heads);
    self->nexts = malloc((count + 1) * sizeof *self->nexts);
    for (Py_ssize_t i = 0; i < self->slots; i++) self->heads[i] = -1;
    for (Py_ssize_t i = count - 1; i >= 0; i--) {
        Py_ssize_t slot = slot_of(self, self->old.items[i]->mobject);
        self->nexts[i] = self->heads[slot];
        self->heads[slot] = i;
    }
}

/* Borrowed: how the mobject looked when it was last drawn, or NULL. */
Looks *last_looks(Canvas *self, PyObject *mobject, Py_ssize_t hint) {
    if (hint < self->old.count && self->old.items[hint]->mobject == mobject)
        return self->old.items[hint];
    index_old(self);
    for (Py_ssize_t i = self->heads[slot_of(self, mobject)]; i >= 0; i = self->nexts[i])
        if (self->old.items[i]->mobject == mobject) return self->old.items[i];
    return NULL;
}

/* -- the comparison -------------------------------------------------------------------------- */

static Looks *now_at(Canvas *self, Py_ssize_t i) {
    return i < self->still.count ? self->still.items[i] : self->moving.items[i - self->still.count];
}

void find_changes(Canvas *self) {
    Py_ssize_t count = self->still.count + self->moving.count, before = self->old.count;
    Py_ssize_t same = 0, furthest = -1;
    for (; same < count && same < before; same++) { /* in step, as in most frames */
        Looks *then = self->old.items[same], *now = now_at(self, same);
        if (then->mobject != now->mobject) break;
        if (then == now) continue;
        mark(self, then);
        mark(self, now);
    }
    if (same < count || same < before) {
        unsigned char *used = calloc(before + 1, 1);
        memset(used, 1, same);
        index_old(self);
        for (Py_ssize_t i = same; i < count; i++) {
            Looks *now = now_at(self, i);
            Py_ssize_t match = self->heads[slot_of(self, now->mobject)];
            while (match >= 0 && (used[match] || self->old.items[match]->mobject != now->mobject))
                match = self->nexts[match];
            if (match < 0) {
                mark(self, now);
                continue;
            }
            used[match] = 1;
            /* out of order: it, or what it was below of, has come to lie on another */
            if (match < furthest || self->old.items[match] != now) {
                mark(self, self->old.items[match]);
                mark(self, now);
            }
            if (match > furthest) furthest = match;
        }
        for (Py_ssize_t i = same; i < before; i++)
            if (!used[i]) mark(self, self->old.items[i]);
        free(used);
    }
    free(self->heads);
    free(self->nexts);
    self->heads = self->nexts = NULL;
    /* the present becomes the past */
    Shown fresh = {NULL, 0, 0};
    for (Py_ssize_t i = 0; i < count; i++) {
        Looks *looks = now_at(self, i);
        looks->references++;
        show(&fresh, looks);
    }
    clear_shown(&self->old);
    free(self->old.items);
    self->old = fresh;
}
