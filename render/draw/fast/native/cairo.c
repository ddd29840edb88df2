/* cairo, as pycairo has loaded it; and drawing one mobject as manim's Camera does. */
#include "lecture.h"
#include <dlfcn.h>

cairo_t *(*c_create)(cairo_surface_t *);
cairo_surface_t *(*c_surface)(unsigned char *, int, int, int, int);
void (*c_set_matrix)(cairo_t *, const cairo_matrix_t *);
void (*c_destroy)(cairo_t *);
void (*c_surface_destroy)(cairo_surface_t *);
static void (*c_new_path)(cairo_t *), (*c_new_sub_path)(cairo_t *), (*c_close_path)(cairo_t *);
static void (*c_fill)(cairo_t *), (*c_stroke)(cairo_t *);
static void (*c_move_to)(cairo_t *, double, double);
static void (*c_curve_to)(cairo_t *, double, double, double, double, double, double);
static void (*c_rgba)(cairo_t *, double, double, double, double);
static void (*c_line_width)(cairo_t *, double);
static void (*c_line_join)(cairo_t *, int), (*c_line_cap)(cairo_t *, int);

int load_cairo(const char *library) {
    void *handle = dlopen(library, RTLD_NOW);
    const struct { const char *name; void *where; } wanted[] = {
        {"cairo_create", &c_create}, {"cairo_image_surface_create_for_data", &c_surface},
        {"cairo_set_matrix", &c_set_matrix}, {"cairo_destroy", &c_destroy},
        {"cairo_surface_destroy", &c_surface_destroy}, {"cairo_new_path", &c_new_path},
        {"cairo_new_sub_path", &c_new_sub_path}, {"cairo_close_path", &c_close_path},
        {"cairo_fill_preserve", &c_fill}, {"cairo_stroke_preserve", &c_stroke},
        {"cairo_move_to", &c_move_to}, {"cairo_curve_to", &c_curve_to},
        {"cairo_set_source_rgba", &c_rgba}, {"cairo_set_line_width", &c_line_width},
        {"cairo_set_line_join", &c_line_join}, {"cairo_set_line_cap", &c_line_cap}};
    for (size_t i = 0; handle && i < sizeof wanted / sizeof *wanted; i++) {
        void *found = dlsym(handle, wanted[i].name);
        if (!found) handle = NULL;
        else memcpy(wanted[i].where, &found, sizeof found);
    }
    if (!handle) PyErr_Format(PyExc_ImportError, "cairo's functions are not in %s", library);
    return handle ? 0 : -1;
}

/* np.isclose of VMobject.get_subpath_split_indices_from_points: b is the reference */
static int near(double a, double b, double tolerance) {
    double difference = fabs(a - b);
    return isfinite(difference) ? difference <= tolerance + 1e-5 * fabs(b) : a == b;
}

static int equal(const double *a, const double *b, double tolerance) {
    return near(a[0], b[0], tolerance) && near(a[1], b[1], tolerance);
}

/* Camera.set_cairo_context_path: a subpath ends where the next curve does not begin. */
static void add_path(cairo_t *context, const Looks *looks) {
    const double *xy = looks->xy;
    int count = looks->points;
    c_new_path(context);
    for (int start = 0, end = 4; count >= 4 && start < count; start = end, end += 4) {
        while (end < count && equal(xy + 2 * (end - 1), xy + 2 * end, looks->tolerance)) end += 4;
        if (end > count) end = count;
        if (end - start < 4) continue;
        c_new_sub_path(context);
        c_move_to(context, xy[2 * start], xy[2 * start + 1]);
        for (int i = start; i < end - 3; i += 4) {
            const double *b = xy + 2 * (i + 1);
            c_curve_to(context, b[0], b[1], b[2], b[3], b[4], b[5]);
        }
        if (equal(xy + 2 * start, xy + 2 * (end - 1), looks->tolerance)) c_close_path(context);
    }
}

/* Set the source; false where nothing could be seen. */
static int set_color(cairo_t *context, const double *rgba) {
    if (rgba[3] <= 0) return 0;
    c_rgba(context, rgba[2], rgba[1], rgba[0], rgba[3]); /* reversed, as Camera does */
    return 1;
}

static void stroke(cairo_t *context, const Looks *looks, const View *view, double width,
                   const double *rgba) {
    if (width == 0 || !set_color(context, rgba)) return;
    c_line_width(context, width * view->line_multiple * 1.0);
    c_line_join(context, looks->joint);
    c_line_cap(context, looks->cap);
    c_stroke(context);
}

/* Camera.display_vectorized: the stroke behind, the fill, the stroke. */
void draw_looks(cairo_t *context, const Looks *looks, const View *view) {
    if (!looks->finite) return;
    add_path(context, looks);
    stroke(context, looks, view, looks->back_stroke, looks->rgba[2]);
    if (set_color(context, looks->rgba[0])) c_fill(context);
    stroke(context, looks, view, looks->stroke, looks->rgba[1]);
}
