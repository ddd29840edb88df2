/* A mobject's looks at one moment: everything that decides about its pixels, compared cheaply. */
#include "lecture.h"

static int as_double(PyObject *value, double *result) {
    if (value && PyUnicode_Check(value)) { /* manim takes "4" for a stroke width */
        PyObject *number = PyNumber_Long(value);
        if (!number) return -1;
        *result = PyFloat_AsDouble(number);
        Py_DECREF(number);
    } else if (value)
        *result = PyFloat_AsDouble(value);
    else
        PyErr_SetString(PyExc_LookupError, "an attribute is missing");
    return PyErr_Occurred() ? -1 : 0;
}

/* A C-contiguous array of doubles with `columns`, or at least `columns` if `wider`. New reference. */
static PyArrayObject *matrix_of(PyObject *value, int columns, int wider) {
    PyArrayObject *array = (PyArrayObject *)PyArray_FROM_OTF(value, NPY_DOUBLE, NPY_ARRAY_IN_ARRAY);
    if (array && (PyArray_NDIM(array) != 2 || PyArray_DIM(array, 1) < columns ||
                  (!wider && PyArray_DIM(array, 1) != columns))) {
        Py_DECREF(array);
        array = NULL;
        PyErr_SetString(PyExc_LookupError, "an array of another shape");
    }
    return array;
}

static int constant(PyObject *map, PyObject *key, int *result) {
    PyObject *value = key ? PyDict_GetItemWithError(map, key) : NULL;
    if (!value) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_LookupError, "an unknown join or cap");
        return -1;
    }
    *result = (int)PyLong_AsLong(value);
    return 0;
}

void drop_looks(Looks *looks) {
    if (!looks || --looks->references) return;
    Py_XDECREF(looks->mobject);
    free(looks->xy);
    free(looks);
}

/* Whether a mobject that looked like `a` looks like `b` and has these points. */
static int same(const Looks *a, const Looks *b, const double *values, npy_intp columns) {
    if (a->points != b->points || a->stroke != b->stroke || a->back_stroke != b->back_stroke ||
        a->tolerance != b->tolerance || a->joint != b->joint || a->cap != b->cap ||
        memcmp(a->rgba, b->rgba, sizeof a->rgba))
        return 0;
    const double *xy = a->xy;
    for (int i = 0; i < a->points; i++, xy += 2, values += columns)
        if (xy[0] != values[0] || xy[1] != values[1]) return 0;
    return 1;
}

static int to_tile(double pixel, int last) {
    double tile = floor(pixel / TILE);
    return tile < 0 ? 0 : tile > last ? last : (int)tile;
}

/* Set the box of tiles that a drawing of `looks` may change. */
static void measure(Looks *looks, const View *view) {
    memset(looks->box, 0, sizeof looks->box);
    if (!looks->finite || looks->points < 4) return;
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < 2 * looks->points; i++) {
        double value = looks->xy[i];
        if (value < low[i & 1]) low[i & 1] = value;
        if (value > high[i & 1]) high[i & 1] = value;
    }
    double width = looks->stroke > looks->back_stroke ? looks->stroke : looks->back_stroke;
    double reach = looks->joint == 0 ? 10 : 1.5; /* in half widths: cairo's limit of miters */
    double margin = 2 + reach * width * view->line_multiple / 2 *
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

/* Looks with everything but points and box. -1 with LookupError where only manim can draw it. */
static int take_style(PyObject *dict, Looks *looks) {
    PyObject *names[3] = {n_fill_rgbas, n_stroke_rgbas, n_background_stroke_rgbas}, *value;
    double per_curve;
    if ((value = PyDict_GetItem(dict, n_background_image)) && value != Py_None) {
        PyErr_SetString(PyExc_LookupError, "a background image");
        return -1;
    }
    if (as_double(PyDict_GetItem(dict, n_stroke_width), &looks->stroke) < 0 ||
        as_double(PyDict_GetItem(dict, n_background_stroke_width), &looks->back_stroke) < 0 ||
        as_double(PyDict_GetItem(dict, n_tolerance_for_point_equality), &looks->tolerance) < 0 ||
        as_double(PyDict_GetItem(dict, n_n_points_per_cubic_curve), &per_curve) < 0 ||
        constant(joint_map, PyDict_GetItem(dict, n_joint_type), &looks->joint) < 0 ||
        constant(cap_map, PyDict_GetItem(dict, n_cap_style), &looks->cap) < 0)
        return -1;
    if (per_curve != 4) { PyErr_SetString(PyExc_LookupError, "no cubic curves"); return -1; }
    looks->stroke = looks->stroke > 0 ? looks->stroke : 0;
    looks->back_stroke = looks->back_stroke > 0 ? looks->back_stroke : 0;
    for (int i = 0; i < 3; i++) {
        if (!(value = PyDict_GetItem(dict, names[i]))) continue; /* clear */
        PyArrayObject *color = matrix_of(value, 4, 0);
        if (!color) return -1;
        int single = PyArray_DIM(color, 0) == 1;
        if (single) memcpy(looks->rgba[i], PyArray_DATA(color), sizeof looks->rgba[i]);
        Py_DECREF(color);
        if (!single) { PyErr_SetString(PyExc_LookupError, "no colour, or several"); return -1; }
    }
    return 0;
}

/* New reference to the looks now: `before` itself (may be NULL) if nothing has changed. */
Looks *take_looks(PyObject *mobject, Looks *before, const View *view) {
    PyObject *dict = dict_of(mobject), *value = dict ? PyDict_GetItem(dict, n_points) : NULL;
    Looks now = {.references = 1, .finite = 1}, *result;
    if (!value) { PyErr_SetString(PyExc_LookupError, "no points"); return NULL; }
    if (take_style(dict, &now) < 0) return NULL;
    PyArrayObject *points = matrix_of(value, 2, 1);
    if (!points) return NULL;
    const double *values = PyArray_DATA(points);
    npy_intp columns = PyArray_DIM(points, 1);
    now.points = (int)PyArray_DIM(points, 0);
    if (before && same(before, &now, values, columns)) {
        before->references++;
        result = before;
    } else {
        result = malloc(sizeof *result);
        *result = now;
        result->xy = malloc((now.points ? now.points : 1) * 2 * sizeof(double));
        result->mobject = Py_NewRef(mobject);
        for (int i = 0; i < now.points; i++, values += columns) {
            for (int k = 0; k < columns; k++) result->finite &= !!isfinite(values[k]);
            result->xy[2 * i] = values[0];
            result->xy[2 * i + 1] = values[1];
        }
        measure(result, view);
    }
    Py_DECREF(points);
    return result;
}
