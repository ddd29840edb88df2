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

static int take_gradient(PyObject *mobject, double *gradient) {
    PyObject *pair = PyObject_CallMethodNoArgs(mobject, n_get_gradient_start_and_end_points);
    if (!pair) return -1;
    PyArrayObject *ends = matrix_of(pair, 2, 1);
    Py_DECREF(pair);
    if (!ends) return -1;
    const double *values = PyArray_DATA(ends);
    npy_intp columns = PyArray_DIM(ends, 1);
    for (int i = 0; i < 4; i++) gradient[i] = values[i / 2 * columns + i % 2];
    Py_DECREF(ends);
    for (int i = 0; i < 4; i++)
        if (!isfinite(gradient[i])) memset(gradient, 0, 4 * sizeof *gradient);
    return 0;
}

void drop_looks(Looks *looks) {
    if (!looks || --looks->references) return;
    Py_XDECREF(looks->mobject);
    free(looks->xy);
    free(looks->rgba);
    free(looks);
}

static int same_points(const Looks *a, const double *values, npy_intp columns) {
    const double *xy = a->xy;
    for (int i = 0; i < a->points; i++, xy += 2, values += columns)
        if (xy[0] != values[0] || xy[1] != values[1]) return 0;
    return 1;
}

/* New reference to the looks now: `before` itself (may be NULL) if nothing has changed. */
Looks *take_looks(PyObject *mobject, Looks *before, const View *view) {
    static double clear[4];
    PyObject *dict = dict_of(mobject), *names[3] = {n_fill_rgbas, n_stroke_rgbas,
                                                    n_background_stroke_rgbas};
    PyArrayObject *points = NULL, *colors[3] = {NULL, NULL, NULL};
    Looks now = {.references = 1}, *result = NULL;
    if (!dict) { PyErr_SetString(PyExc_LookupError, "no attributes"); return NULL; }
    PyObject *image = PyDict_GetItem(dict, n_background_image);
    if (image && image != Py_None) {
        PyErr_SetString(PyExc_LookupError, "a background image");
        return NULL;
    }
    double per_curve;
    PyObject *value = PyDict_GetItem(dict, n_points);
    if (!value || !(points = matrix_of(value, 2, 1))) goto done;
    if (as_double(PyDict_GetItem(dict, n_stroke_width), &now.stroke) < 0 ||
        as_double(PyDict_GetItem(dict, n_background_stroke_width), &now.back_stroke) < 0 ||
        as_double(PyDict_GetItem(dict, n_tolerance_for_point_equality), &now.tolerance) < 0 ||
        as_double(PyDict_GetItem(dict, n_n_points_per_cubic_curve), &per_curve) < 0 ||
        constant(joint_map, PyDict_GetItem(dict, n_joint_type), &now.joint) < 0 ||
        constant(cap_map, PyDict_GetItem(dict, n_cap_style), &now.cap) < 0)
        goto done;
    if (per_curve != 4) { PyErr_SetString(PyExc_LookupError, "no cubic curves"); goto done; }
    now.stroke = now.stroke > 0 ? now.stroke : 0;
    now.back_stroke = now.back_stroke > 0 ? now.back_stroke : 0;
    int total = 0, gradient = 0;
    for (int i = 0; i < 3; i++) {
        now.colors[i] = 1;
        if ((value = PyDict_GetItem(dict, names[i]))) {
            if (!(colors[i] = matrix_of(value, 4, 0))) goto done;
            now.colors[i] = (int)PyArray_DIM(colors[i], 0);
        }
        total += now.colors[i];
        gradient |= now.colors[i] != 1;
        if (now.colors[i] < 1) { PyErr_SetString(PyExc_LookupError, "no colour"); goto done; }
    }
    if (gradient && take_gradient(mobject, now.gradient) < 0) goto done;
    now.points = (int)PyArray_DIM(points, 0);
    const double *values = PyArray_DATA(points);
    npy_intp columns = PyArray_DIM(points, 1);
    double rgba[4 * 3], *all = total <= 3 ? rgba : malloc(total * 4 * sizeof(double)), *next = all;
    for (int i = 0; i < 3; next += 4 * now.colors[i], i++)
        memcpy(next, colors[i] ? PyArray_DATA(colors[i]) : clear,
               4 * now.colors[i] * sizeof(double));
    if (before && before->points == now.points && before->stroke == now.stroke &&
        before->back_stroke == now.back_stroke && before->tolerance == now.tolerance &&
        before->joint == now.joint && before->cap == now.cap &&
        !memcmp(before->colors, now.colors, sizeof now.colors) &&
        !memcmp(before->gradient, now.gradient, sizeof now.gradient) &&
        !memcmp(before->rgba, all, total * 4 * sizeof(double)) &&
        same_points(before, values, columns)) {
        before->references++;
        result = before;
    } else {
        result = malloc(sizeof *result);
        *result = now;
        result->rgba = malloc(total * 4 * sizeof(double));
        memcpy(result->rgba, all, total * 4 * sizeof(double));
        result->xy = malloc((now.points ? now.points : 1) * 2 * sizeof(double));
        result->mobject = Py_NewRef(mobject);
        result->finite = 1;
        for (int i = 0; i < now.points; i++, values += columns) {
            for (int k = 0; k < columns; k++) result->finite &= !!isfinite(values[k]);
            result->xy[2 * i] = values[0];
            result->xy[2 * i + 1] = values[1];
        }
        measure(result, view);
    }
    if (all != rgba) free(all);
done:
    Py_XDECREF(points);
    for (int i = 0; i < 3; i++) Py_XDECREF(colors[i]);
    if (!result && !PyErr_Occurred()) PyErr_SetString(PyExc_LookupError, "no points");
    return result;
}
