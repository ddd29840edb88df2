/* What the parts of the compiled helper share. Built by render/draw/fast/native.py; needs the headers
 * of Python and NumPy only: cairo's functions are taken from the library that pycairo has loaded, so
 * that the very same code draws. */
#ifndef LECTURE_H
#define LECTURE_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL lecture_array_api
#ifndef LECTURE_MAIN
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TILE 16 /* pixels: changes are kept track of in squares of this size */

/* -- cairo (cairo.c) -- */
typedef struct cairo_s cairo_t;
typedef struct cairo_surface_s cairo_surface_t;
typedef struct { double xx, yx, xy, yy, x0, y0; } cairo_matrix_t;
int load_cairo(const char *library);
extern cairo_t *(*c_create)(cairo_surface_t *);
extern cairo_surface_t *(*c_surface)(unsigned char *, int, int, int, int);
extern void (*c_set_matrix)(cairo_t *, const cairo_matrix_t *);
extern void (*c_destroy)(cairo_t *);
extern void (*c_surface_destroy)(cairo_surface_t *);

/* -- names of attributes, and kinds of classes (classes.c) -- */
#define NAMES(X) X(points) X(submobjects) X(z_index) \
    X(fill_rgbas) X(stroke_rgbas) X(background_stroke_rgbas) X(stroke_width) \
    X(background_stroke_width) X(sheen_direction) X(sheen_factor) X(joint_type) X(cap_style) \
    X(background_image) X(tolerance_for_point_equality) X(n_points_per_cubic_curve) \
    X(original_id)
#define DECLARE(name) extern PyObject *n_##name;
NAMES(DECLARE)
enum { STANDARD_FAMILY = 1, STANDARD_DRAWING = 2, NOT_DRAWN = 4, STANDARD_INTERPOLATION = 8,
       STANDARD_COPY = 16 };
int intern_names(void);
int kind_of(PyObject *mobject);            /* the flags above; -1 with an exception */
PyObject *dict_of(PyObject *object);       /* borrowed from the object */
PyObject *attribute(PyObject *object, PyObject *name); /* borrowed, from the dict; or NULL */
extern PyObject *classify, *joint_map, *cap_map, *atomic_types, *py_deepcopy;

/* -- looks of a mobject at one moment (looks.c) -- */
typedef struct {
    int references;
    PyObject *mobject;
    int points, finite;
    double *xy;
    double tolerance, stroke, back_stroke;
    int joint, cap;
    double rgba[3][4]; /* fill, stroke, stroke behind */
    int box[4]; /* tiles: x0, y0, x1, y1 (exclusive) that it may touch */
} Looks;

typedef struct {
    int width, height, across, down; /* pixels, tiles */
    double frame_width, frame_height, line_multiple;
    double scale_x, scale_y, center_x, center_y;
    cairo_matrix_t matrix;
} View;

Looks *take_looks(PyObject *mobject, Looks *before, const View *view);
void drop_looks(Looks *looks);
void draw_looks(cairo_t *context, const Looks *looks, const View *view);

/* -- functions and types of the module -- */
PyObject *py_family(PyObject *, PyObject *);
PyObject *py_flat(PyObject *, PyObject *);
PyObject *py_copy(PyObject *, PyObject *);
PyObject *py_interpolate(PyObject *, PyObject *);
PyObject *py_to_yuv(PyObject *, PyObject *);
extern PyTypeObject CanvasType;
#endif
