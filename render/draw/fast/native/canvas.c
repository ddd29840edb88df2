/* Canvas: draws what has changed since the last drawing, and says where pixels did change. */
#include "canvas.h"

/* Draw those of `shown` that touch a tile of `where` whole, as clipping would change their edges;
 * what falls outside of these tiles is worthless. */
static void draw_on_scratch(Canvas *self, const Shown *shown, const unsigned char *where) {
    int across = self->view.across;
    for (Py_ssize_t i = 0; i < shown->count; i++) {
        const int *box = shown->items[i]->box;
        int hit = 0;
        for (int y = box[1]; y < box[3] && !hit && box[2] > box[0]; y++)
            hit = memchr(where + y * across + box[0], 1, box[2] - box[0]) != NULL;
        if (hit) draw_looks(self->context, shown->items[i], &self->view);
    }
}

/* Copy the tiles of `where`. Those that differ are noted in `changed`, unless it is NULL. */
static void copy_tiles(Canvas *self, const unsigned char *from, unsigned char *to,
                       const unsigned char *where, unsigned char *changed) {
    int across = self->view.across;
    size_t stride = 4 * (size_t)self->view.width;
    for (int y = 0; y < self->view.height; y++) {
        const unsigned char *tiles = where + y / TILE * across;
        for (int x = 0; x < across; x++) {
            if (!tiles[x]) continue;
            int end = x + 1;
            if (!changed) while (end < across && tiles[end]) end++;
            size_t start = y * stride + (size_t)x * TILE * 4;
            size_t row = (size_t)end * TILE * 4, stop = y * stride + (row < stride ? row : stride);
            if (!changed || memcmp(to + start, from + start, stop - start)) {
                memcpy(to + start, from + start, stop - start);
                if (changed) changed[y / TILE * across + x] = 1;
            }
            x = end - 1;
        }
    }
}

/* Have the still mobjects drawn wherever `where` says. */
static void prepare_below(Canvas *self, const unsigned char *where) {
    int wanted = 0, tiles = self->view.across * self->view.down;
    for (int i = 0; i < tiles; i++) wanted |= self->missing[i] = where[i] && !self->below_ready[i];
    if (!wanted) return;
    copy_tiles(self, PyArray_DATA(self->background), self->scratch, self->missing, NULL);
    draw_on_scratch(self, &self->still, self->missing);
    copy_tiles(self, self->scratch, self->below, self->missing, NULL);
    for (int i = 0; i < tiles; i++) self->below_ready[i] |= self->missing[i];
}

/* Looks of all `mobjects`; `after` others come before them in the order of drawing. */
static int take_all(Canvas *self, PyObject *mobjects, Shown *into, Py_ssize_t after) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(mobjects); i++) {
        PyObject *mobject = PyList_GET_ITEM(mobjects, i);
        int flags = kind_of(mobject);
        if (flags < 0) return -1;
        if (flags & NOT_DRAWN) continue;
        if (!(flags & STANDARD_DRAWING)) {
            PyErr_SetString(PyExc_LookupError, "a mobject with a way of its own to be drawn");
            return -1;
        }
        Looks *before = last_looks(self, mobject, after + into->count);
        if (before) before->references++;
        Looks *now = take_looks(mobject, before, &self->view);
        drop_looks(before);
        if (!now) return -1;
        show(into, now);
    }
    return 0;
}

static PyObject *set_still(Canvas *self, PyObject *mobjects) {
    Shown fresh = {NULL, 0, 0};
    if (!PyList_Check(mobjects)) return PyErr_Format(PyExc_TypeError, "a list is wanted");
    if (take_all(self, mobjects, &fresh, 0) < 0) {
        clear_shown(&fresh);
        free(fresh.items);
        return NULL;
    }
    clear_shown(&self->still);
    free(self->still.items);
    self->still = fresh;
    memset(self->below_ready, 0, self->view.across * self->view.down);
    Py_RETURN_NONE;
}

static PyObject *draw(Canvas *self, PyObject *mobjects) {
    int tiles = self->view.across * self->view.down;
    if (!PyList_Check(mobjects)) return PyErr_Format(PyExc_TypeError, "a list is wanted");
    clear_shown(&self->moving);
    if (take_all(self, mobjects, &self->moving, self->still.count) < 0) return NULL;
    find_changes(self);
    if (memchr(self->dirty, 1, tiles)) {
        prepare_below(self, self->dirty);
        copy_tiles(self, self->below, self->scratch, self->dirty, NULL);
        draw_on_scratch(self, &self->moving, self->dirty);
        copy_tiles(self, self->scratch, PyArray_DATA(self->frame), self->dirty, self->changed);
        memset(self->dirty, 0, tiles);
    }
    Py_RETURN_NONE;
}

/* The still mobjects on the background, all of the picture. */
static PyObject *complete_below(Canvas *self, PyObject *unused) {
    int tiles = self->view.across * self->view.down;
    unsigned char *all = malloc(tiles);
    memset(all, 1, tiles);
    prepare_below(self, all);
    free(all);
    PyObject *copy = PyArray_NewCopy(self->frame, NPY_CORDER);
    if (copy) memcpy(PyArray_DATA((PyArrayObject *)copy), self->below, PyArray_NBYTES(self->frame));
    return copy;
}

/* Others have drawn into the frame, or the background is another: start afresh. */
static PyObject *invalidate(Canvas *self, PyObject *unused) {
    int tiles = self->view.across * self->view.down;
    memset(self->dirty, 1, tiles);
    memset(self->changed, 1, tiles);
    memset(self->below_ready, 0, tiles);
    Py_RETURN_NONE;
}

static int setup(Canvas *self, PyObject *args, PyObject *options) {
    View *view = &self->view;
    if (!PyArg_ParseTuple(args, "O!O!O!(dd)d", &PyArray_Type, &self->frame, &PyArray_Type,
                          &self->background, &PyArray_Type, &self->changed_array,
                          &view->frame_width, &view->frame_height, &view->line_multiple))
        return -1;
    PyArrayObject *all[3] = {self->frame, self->background, self->changed_array};
    for (int i = 0; i < 3; i++) Py_INCREF(all[i]);
    view->height = (int)PyArray_DIM(self->frame, 0);
    view->width = (int)PyArray_DIM(self->frame, 1);
    view->across = (view->width + TILE - 1) / TILE;
    view->down = (view->height + TILE - 1) / TILE;
    npy_intp tiles = view->across * view->down, bytes = (npy_intp)4 * view->width * view->height;
    for (int i = 0; i < 3; i++)
        if (!PyArray_IS_C_CONTIGUOUS(all[i]) || PyArray_NBYTES(all[i]) != (i < 2 ? bytes : tiles)) {
            PyErr_SetString(PyExc_ValueError, "arrays of one size are wanted");
            return -1;
        }
    view->scale_x = view->width / view->frame_width;
    view->scale_y = view->height / view->frame_height;
    view->center_x = view->width / 2.0;
    view->center_y = view->height / 2.0;
    view->matrix = (cairo_matrix_t){view->scale_x, 0, 0, -view->scale_y, view->center_x,
                                    view->center_y};
    self->changed = PyArray_DATA(self->changed_array);
    self->below = malloc(bytes);
    self->scratch = malloc(bytes);
    self->dirty = calloc(3 * tiles, 1);
    self->below_ready = self->dirty + tiles;
    self->missing = self->below_ready + tiles;
    self->surface = c_surface(self->scratch, 0, view->width, view->height, 4 * view->width);
    self->context = c_create(self->surface);
    c_set_matrix(self->context, &view->matrix);
    Py_XDECREF(invalidate(self, NULL));
    return 0;
}

static void end(Canvas *self) {
    Shown *all[3] = {&self->still, &self->moving, &self->old};
    for (int i = 0; i < 3; i++) {
        clear_shown(all[i]);
        free(all[i]->items);
    }
    if (self->context) c_destroy(self->context);
    if (self->surface) c_surface_destroy(self->surface);
    free(self->heads);
    free(self->nexts);
    free(self->dirty);
    free(self->below);
    free(self->scratch);
    Py_XDECREF(self->frame);
    Py_XDECREF(self->background);
    Py_XDECREF(self->changed_array);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef methods[] = {
    {"set_still", (PyCFunction)set_still, METH_O, "What lies below all that moves, for some time."},
    {"draw", (PyCFunction)draw, METH_O, "Bring the frame up to date; moving mobjects on top."},
    {"complete_below", (PyCFunction)complete_below, METH_NOARGS, "A copy of the still picture."},
    {"invalidate", (PyCFunction)invalidate, METH_NOARGS, "Draw everything anew next time."},
    {NULL, NULL, 0, NULL}};

PyTypeObject CanvasType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "lecture_native.Canvas",
    .tp_basicsize = sizeof(Canvas),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Canvas(frame, background, changed, (width, height), multiple)",
    .tp_new = PyType_GenericNew,
    .tp_init = (initproc)setup,
    .tp_dealloc = (destructor)end,
    .tp_methods = methods};
