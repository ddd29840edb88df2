/* The picture: what is on it, which of its tiles are out of date. */
#ifndef CANVAS_H
#define CANVAS_H
#include "lecture.h"

typedef struct { Looks **items; Py_ssize_t count, room; } Shown;

typedef struct {
    PyObject_HEAD
    View view;
    PyArrayObject *frame, *background, *changed_array; /* Python's */
    unsigned char *below, *scratch; /* as large as the frame: height x width x 4 bytes */
    cairo_surface_t *surface;
    cairo_t *context;
    unsigned char *dirty, *below_ready, *missing, *changed; /* a byte per tile */
    Shown still, moving; /* drawn, in order: first the still ones */
    Shown old;           /* what the frame shows: still and moving ones of the last drawing */
    Py_ssize_t *heads, *nexts, slots; /* hash table of the old ones, by mobject */
} Canvas;

void show(Shown *shown, Looks *looks); /* takes over the reference */
void clear_shown(Shown *shown);
void find_changes(Canvas *self); /* marks dirty tiles, makes `old` the present */
/* Borrowed: how the mobject looked when it was last drawn, perhaps at place `hint`; or NULL. */
Looks *last_looks(Canvas *self, PyObject *mobject, Py_ssize_t hint);
#endif
