/* Regions, counters and timers of a program, for the recorder of simreplay (docs/metrics.md).
 *
 * Safe to leave in: a program needs no library for them, and where it is not recorded a call costs a null test.
 * Nothing here fails, prints or changes what the program does. Calls may stand anywhere, also before MPI_Init and
 * after MPI_Finalize; those made inside of MPI (in its callbacks) are not recorded. Regions, timers and counters
 * are those of the calling thread. Threads that may not call MPI (MPI_THREAD_FUNNELED) are not recorded.
 *
 * A name is found again by its text at each call. In hot loops ask for a handle once:
 *
 *   simcapture_region_begin("solver");              static int solver = -1;
 *   ...                                             if (solver < 0) solver = simcapture_region("solver");
 *   simcapture_region_end("solver");                simcapture_begin(solver); ... simcapture_end(solver);
 *
 * Names are compared by their first 255 bytes; those of all processes that are equal mean one thing. Regions,
 * counters and timers have names of their own. */
#ifndef SIMCAPTURE_H
#define SIMCAPTURE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call of the recorder's functions means; the numbers are part of its binary interface. */
enum { SIMCAPTURE_REGION_, SIMCAPTURE_COUNTER_, SIMCAPTURE_TIMER_ };
enum {
  SIMCAPTURE_REGION_BEGIN_,
  SIMCAPTURE_REGION_END_,
  SIMCAPTURE_COUNTER_SET_,
  SIMCAPTURE_COUNTER_ADD_,
  SIMCAPTURE_TIMER_START_,
  SIMCAPTURE_TIMER_STOP_,
  SIMCAPTURE_TIMER_WHILE_
};

/* The recorder's functions: null where the program is not recorded. */
#ifdef SIMCAPTURE_RECORDER_
#define SIMCAPTURE_WEAK_
#else
#define SIMCAPTURE_WEAK_ __attribute__((weak))
#endif
extern int simcapture_metric_(int kind, const char *name) SIMCAPTURE_WEAK_;
extern void simcapture_mark_(int what, int metric, int64_t value) SIMCAPTURE_WEAK_;

/* Where code is not position-independent, linkers take a weak name that they do not find for null for good. Only
 * an entry of the global offset table leaves it open until the program starts. */
#if defined(__PIC__) || !(defined(__x86_64__) || defined(__aarch64__))
#define SIMCAPTURE_LOOK_UP_(function, name) function = name
#elif defined(__x86_64__)
#define SIMCAPTURE_LOOK_UP_(function, name) \
  __asm__(".weak " #name "\n\tmovq " #name "@GOTPCREL(%%rip), %0" : "=r"(function))
#else
#define SIMCAPTURE_LOOK_UP_(function, name) \
  __asm__(".weak " #name "\n\tadrp %0, :got:" #name "\n\tldr %0, [%0, :got_lo12:" #name "]" : "=r"(function))
#endif

static __inline__ int simcapture_find_(int kind, const char *name) {
  int (*find)(int, const char *);
  SIMCAPTURE_LOOK_UP_(find, simcapture_metric_);
  return find ? find(kind, name) : -1;
}

static __inline__ void simcapture_say_(int what, int metric, int64_t value) {
  void (*say)(int, int, int64_t);
  SIMCAPTURE_LOOK_UP_(say, simcapture_mark_);
  if (say) say(what, metric, value);
}

/* ---- handles: -1 where the program is not recorded; calls with it do nothing ---- */

static __inline__ int simcapture_region(const char *name) {
  return simcapture_find_(SIMCAPTURE_REGION_, name);
}
static __inline__ int simcapture_counter(const char *name) {
  return simcapture_find_(SIMCAPTURE_COUNTER_, name);
}
/* A timer with the name of an MPI function ("MPI_Send") runs during its calls, and one named "MPI" during those of
 * all MPI functions; the program need not start them. */
static __inline__ int simcapture_timer(const char *name) { return simcapture_find_(SIMCAPTURE_TIMER_, name); }

/* ---- regions: nested; the end of one ends those that were begun inside of it and are still open ---- */

static __inline__ void simcapture_begin(int region) { simcapture_say_(SIMCAPTURE_REGION_BEGIN_, region, 0); }
static __inline__ void simcapture_end(int region) { simcapture_say_(SIMCAPTURE_REGION_END_, region, 0); }

static __inline__ void simcapture_region_begin(const char *name) { simcapture_begin(simcapture_region(name)); }
static __inline__ void simcapture_region_end(const char *name) { simcapture_end(simcapture_region(name)); }

/* ---- counters: whole numbers, 0 at first ---- */

static __inline__ void simcapture_set(int counter, int64_t value) {
  simcapture_say_(SIMCAPTURE_COUNTER_SET_, counter, value);
}
static __inline__ void simcapture_add(int counter, int64_t value) {
  simcapture_say_(SIMCAPTURE_COUNTER_ADD_, counter, value);
}
static __inline__ void simcapture_sub(int counter, int64_t value) {
  simcapture_say_(SIMCAPTURE_COUNTER_ADD_, counter, -value);
}

static __inline__ void simcapture_counter_set(const char *name, int64_t value) {
  simcapture_set(simcapture_counter(name), value);
}
static __inline__ void simcapture_counter_add(const char *name, int64_t value) {
  simcapture_add(simcapture_counter(name), value);
}
static __inline__ void simcapture_counter_sub(const char *name, int64_t value) {
  simcapture_sub(simcapture_counter(name), value);
}

/* ---- timers: one that was started twice runs until it was stopped twice ---- */

static __inline__ void simcapture_start(int timer) { simcapture_say_(SIMCAPTURE_TIMER_START_, timer, 0); }
static __inline__ void simcapture_stop(int timer) { simcapture_say_(SIMCAPTURE_TIMER_STOP_, timer, 0); }

static __inline__ void simcapture_timer_start(const char *name) { simcapture_start(simcapture_timer(name)); }
static __inline__ void simcapture_timer_stop(const char *name) { simcapture_stop(simcapture_timer(name)); }

/* ---- predicates: how long does the timer run while the counter is above 0? Said once, for all threads ---- */

static __inline__ void simcapture_while(int timer, int counter) {
  simcapture_say_(SIMCAPTURE_TIMER_WHILE_, timer, counter);
}
static __inline__ void simcapture_timer_while(const char *timer, const char *counter) {
  const int of_timer = simcapture_timer(timer);
  simcapture_while(of_timer, simcapture_counter(counter));
}

#ifdef __cplusplus
}
#endif

#endif
