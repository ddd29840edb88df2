/* Subpaths of an outline, as VMobject splits them, and the pixels that an outline may touch. */
#include "lecture.h"

/* np.isclose of VMobject.get_subpath_split_indices_from_points: b is the reference */
static int near(double a, double b, double tolerance) {
    double difference = fabs(a - b);
    return isfinite(difference) ? difference <= tolerance + 1e-5 * fabs(b) : a == b;
}

static int equal(const double *a, const double *b, double tolerance) {
    return near(a[0], b[0], tolerance) && near(a[1], b[1], tolerance);
}

/* Camera.set_cairo_context_path: visit(data, points, start, end, closed) for each subpath. */
void each_subpath(const Looks *looks, SubpathVisitor visit, void *data) {
    const double *xy = looks->xy;
    int count = looks->points;
    if (count < 4) return;
    for (int start = 0, end = 4; start < count; start = end, end += 4) {
        while (end < count && equal(xy + 2 * (end - 1), xy + 2 * end, looks->tolerance)) end += 4;
        if (end > count) end = count;
        if (end - start < 4) continue;
        visit(data, xy, start, end,
              equal(xy + 2 * start, xy + 2 * (end - 1), looks->tolerance));
    }
}

/* -- how far a stroke may reach ------------------------------------------------------------- */

typedef struct { double scale, reach; } Reach; /* reach: in halves of the line's width */

/* Direction of a curve at an end, in pixels; false where cairo's rounding may decide about it. */
static int direction(const double *from, const double *to, double scale, double *result) {
    double x = (to[0] - from[0]) * scale, y = (to[1] - from[1]) * scale, length = hypot(x, y);
    if (!(length > 0.1)) return 0;
    result[0] = x / length;
    result[1] = y / length;
    return 1;
}

static void join(Reach *reach, const double *before, const double *corner, const double *after) {
    double a[2], b[2];
    if (!direction(before, corner, reach->scale, a) || !direction(corner, after, reach->scale, b)) {
        reach->reach = 10;
        return;
    }
    /* the turn; cairo's miter limit is 10 half widths */
    double cosine = a[0] * b[0] + a[1] * b[1];
    double half = sqrt((1 + (cosine > 1 ? 1 : cosine < -1 ? -1 : cosine)) / 2);
    double wanted = half > 0.09 ? 1.1 / half : 1;
    if (half > 0.09 && wanted > reach->reach) reach->reach = wanted > 10 ? 10 : wanted;
}

static void reach_of(void *data, const double *xy, int start, int end, int closed) {
    Reach *reach = data;
    const double *last = xy + 2 * (end - 1), *first = xy + 2 * start;
    for (int i = start; i + 7 < end; i += 4)
        join(reach, xy + 2 * (i + 2), xy + 2 * (i + 3), xy + 2 * (i + 5));
    if (closed) {
        if (first[0] != last[0] || first[1] != last[1]) reach->reach = 10;
        else join(reach, last - 2, last, first + 2);
    }
}

static int to_tile(double pixel, int last) {
    double tile = floor(pixel / TILE);
    return tile < 0 ? 0 : tile > last ? last : (int)tile;
}

/* Set the box of tiles that a drawing of `looks` may change. */
void measure(Looks *looks, const View *view) {
    memset(looks->box, 0, sizeof looks->box);
    if (!looks->finite || looks->points < 4) return;
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < 2 * looks->points; i++) {
        double value = looks->xy[i];
        if (value < low[i & 1]) low[i & 1] = value;
        if (value > high[i & 1]) high[i & 1] = value;
    }
    double width = looks->stroke > looks->back_stroke ? looks->stroke : looks->back_stroke;
    Reach reach = {fmin(view->scale_x, view->scale_y), 1.5};
    if (width > 0 && looks->joint == 0) each_subpath(looks, reach_of, &reach); /* miters */
    double margin = 2 + reach.reach * width * view->line_multiple / 2 *
                            fmax(view->scale_x, view->scale_y);
    double left = low[0] * view->scale_x + view->center_x - margin;
    double right = high[0] * view->scale_x + view->center_x + margin;
    double top = view->center_y - high[1] * view->scale_y - margin;
    double bottom = view->center_y - low[1] * view->scale_y + margin;
    if (right < 0 || bottom < 0 || left >= view->width || top >= view->height) return;
    looks->box[0] = to_tile(left, view->across - 1);
    looks->box[1] = to_tile(top, view->down - 1);
    looks->box[2] = to_tile(right, view->across - 1) + 1;
    looks->box[3] = to_tile(bottom, view->down - 1) + 1;
}
