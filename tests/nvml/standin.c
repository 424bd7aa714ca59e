// A stand-in for the NVIDIA management library: what it answers stands in a file that the test maps
// too. Struct layouts are written from the binding that calls it; all members of the state are
// eight bytes wide, so that both sides agree. Built without -DNEW it lacks what old drivers lack.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GPUS = 8, FIELDS = 320, SCOPES = 20, METRICS = 128, SLICES = 8, PROCESSES = 8, XIDS = 64 };
enum { OK, UNINITIALIZED, INVALID, NOT_SUPPORTED, NOT_FOUND = 6, TOO_SMALL, TIMEOUT = 10 };
enum { DRIVER_GONE = 9, ALL_LINKS = 18, XID = 8 };
#define NONE 0xffffffffu

typedef uint64_t u64;
typedef int64_t i64;
struct slice { u64 exists, instance, compute, used, total; double gpm[METRICS]; char uuid[64]; };
struct gpu {
  char bus_id[32], uuid[64], serial[32], model[64], vbios[32];
  char missing[1024];                 // functions that answer NOT_SUPPORTED, " a b "
  u64 error;                          // != 0: every call on the GPU answers this
  u64 blocked, waiting, calls;        // blocked: calls wait; waiting: how many do; calls: how many were
  u64 busy, memory_busy, used, total, reserved;
  i64 temperature, slowdown, margin;
  u64 milliwatts, limit, default_limit, reasons, sm_megahertz, memory_megahertz;
  u64 generation, generation_max, width, width_max, pcie_kilobytes;
  u64 histogram[5], sram[12], fabric;
  u64 link_up[SCOPES];
  u64 known[SCOPES][FIELDS];          // 1: the field is there
  u64 field[SCOPES][FIELDS];
  u64 gpm_supported; double gpm[METRICS];
  u64 mig; struct slice slices[SLICES];
  u64 processes, pids[PROCESSES], instances[PROCESSES];
};
struct xid { u64 gpu, code, instance; };
struct state {
  u64 driver_error, driver_epoch, gpus; // another epoch: the driver was loaded anew
  u64 registered;                     // how often a GPU was registered for events
  u64 xids; struct xid xid[XIDS];     // how many were posted; the last ones
  struct gpu gpu[GPUS];
};
_Static_assert(sizeof(struct state) == STATE_BYTES, "state.py lays the state out differently");

struct device { int gpu, slice; };     // slice -1: the GPU itself
static struct device devices[GPUS][SLICES + 1];
static struct state *state;
static int opened;
static u64 epoch;

static int map(void) {
  if (state) return 1;
  const char *path = getenv("STANDIN_STATE");
  int fd = path ? open(path, O_RDWR) : -1;
  if (fd < 0) return 0;
  void *at = mmap(0, sizeof(struct state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (at == MAP_FAILED) return 0;
  state = at;
  for (int g = 0; g < GPUS; g++)
    for (int s = 0; s <= SLICES; s++) devices[g][s] = (struct device){g, s - 1};
  return 1;
}
int nvmlInitWithFlags(unsigned flags) {
  (void)flags;
  if (!map() || state->driver_error) return state ? (int)state->driver_error : DRIVER_GONE;
  if (opened++ == 0) epoch = state->driver_epoch;
  return OK;
}
int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
int nvmlShutdown(void) { return opened ? (opened--, OK) : UNINITIALIZED; }
const char *nvmlErrorString(int error) { (void)error; return "stand-in error"; }

static int driver(void) {
  if (!opened) return UNINITIALIZED;
  return state->driver_error || epoch != state->driver_epoch ? DRIVER_GONE : OK;
}
// Every call on a device goes through here: counted, held up, refused.
static int enter(struct device *d, const char *function) {
  int error = driver();
  if (error) return error;
  if (!d) return INVALID;
  struct gpu *g = &state->gpu[d->gpu];
  __atomic_add_fetch(&g->calls, 1, __ATOMIC_SEQ_CST);
  if (g->blocked) {
    __atomic_add_fetch(&g->waiting, 1, __ATOMIC_SEQ_CST);
    while (*(volatile u64 *)&g->blocked) usleep(1000);
    __atomic_sub_fetch(&g->waiting, 1, __ATOMIC_SEQ_CST);
  }
  char word[128];
  snprintf(word, sizeof word, " %s ", function);
  return g->error ? (int)g->error : strstr(g->missing, word) ? NOT_SUPPORTED : OK;
}
#define ENTER(d) { int error_ = enter(d, __func__); if (error_) return error_; }
#define G(d) (&state->gpu[(d)->gpu])
#define TEXT(name, member) int name(struct device *d, char *out, unsigned size) \
  { ENTER(d) snprintf(out, size, "%s", G(d)->member); return OK; }
#define NUMBER(name, type, expression) int name(struct device *d, type *out) \
  { ENTER(d) *out = (type)(expression); return OK; }

int nvmlSystemGetDriverVersion(char *out, unsigned size)
{ int error = driver(); if (!error) snprintf(out, size, "580.65.06"); return error; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = (unsigned)state->gpus; return driver(); }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct device **out) {
  if (driver()) return driver();
  if (index >= state->gpus) return INVALID;
  *out = &devices[index][0];
  return (int)state->gpu[index].error;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, struct device **out) {
  if (driver()) return driver();
  for (unsigned g = 0; g < state->gpus; g++)
    if (!strcasecmp(state->gpu[g].bus_id + 4, bus_id)) return nvmlDeviceGetHandleByIndex_v2(g, out);
  return NOT_FOUND;
}
TEXT(nvmlDeviceGetName, model) TEXT(nvmlDeviceGetSerial, serial)
TEXT(nvmlDeviceGetVbiosVersion, vbios)
int nvmlDeviceGetUUID(struct device *d, char *out, unsigned size) {
  ENTER(d)
  snprintf(out, size, "%s", d->slice < 0 ? G(d)->uuid : G(d)->slices[d->slice].uuid);
  return OK;
}
NUMBER(nvmlDeviceGetIndex, unsigned, d->gpu)
struct pci { char legacy[16]; unsigned domain, bus, device, id, subsystem; char bus_id[32]; };
int nvmlDeviceGetPciInfo_v3(struct device *d, struct pci *out) {
  ENTER(d)
  memset(out, 0, sizeof *out);
  memcpy(out->bus_id, G(d)->bus_id, sizeof out->bus_id);
  return OK;
}
struct utilization { unsigned gpu, memory; };
int nvmlDeviceGetUtilizationRates(struct device *d, struct utilization *out)
{ ENTER(d) *out = (struct utilization){(unsigned)G(d)->busy, (unsigned)G(d)->memory_busy}; return OK; }
struct memory { u64 total, free, used; };
int nvmlDeviceGetMemoryInfo(struct device *d, struct memory *out) {
  ENTER(d)
  struct slice *s = d->slice < 0 ? 0 : &G(d)->slices[d->slice];
  u64 total = s ? s->total : G(d)->total, used = s ? s->used : G(d)->used;
  *out = (struct memory){total, total - used, used};
  return OK;
}
int nvmlDeviceGetTemperature(struct device *d, int sensor, unsigned *out)
{ ENTER(d) (void)sensor; *out = (unsigned)G(d)->temperature; return OK; }
int nvmlDeviceGetTemperatureThreshold(struct device *d, int which, unsigned *out)
{ ENTER(d) *out = (unsigned)G(d)->slowdown; return which == 1 && G(d)->slowdown ? OK : NOT_SUPPORTED; }
NUMBER(nvmlDeviceGetPowerUsage, unsigned, G(d)->milliwatts)
NUMBER(nvmlDeviceGetEnforcedPowerLimit, unsigned, G(d)->limit)
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, unsigned, G(d)->default_limit)
int nvmlDeviceGetClockInfo(struct device *d, int which, unsigned *out)
{ ENTER(d) *out = (unsigned)(which == 2 ? G(d)->memory_megahertz : G(d)->sm_megahertz); return OK; }
NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, u64, G(d)->reasons)
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, unsigned, G(d)->generation)
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, unsigned, G(d)->generation_max)
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, unsigned, G(d)->width)
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, unsigned, G(d)->width_max)
int nvmlDeviceGetPcieThroughput(struct device *d, int which, unsigned *out)
{ ENTER(d) (void)which; *out = (unsigned)G(d)->pcie_kilobytes; return OK; }
NUMBER(nvmlDeviceGetPcieReplayCounter, unsigned, G(d)->field[0][94])
int nvmlDeviceGetRowRemapperHistogram(struct device *d, unsigned out[5])
{ ENTER(d) for (int i = 0; i < 5; i++) out[i] = (unsigned)G(d)->histogram[i]; return OK; }
int nvmlDeviceGetNvLinkState(struct device *d, unsigned link, unsigned *up)
{ ENTER(d) if (link >= ALL_LINKS) return INVALID; *up = (unsigned)G(d)->link_up[link]; return OK; }
struct value { unsigned id, scope; i64 at, latency; int type, error; u64 value; };
int nvmlDeviceGetFieldValues(struct device *d, int count, struct value *out) {
  ENTER(d)
  for (int i = 0; i < count; i++) {
    unsigned id = out[i].id, scope = out[i].scope == NONE ? ALL_LINKS : out[i].scope;
    int known = id < FIELDS && scope < SCOPES && G(d)->known[scope][id];
    out[i].type = 3; // unsigned long long
    out[i].error = known ? OK : NOT_SUPPORTED;
    out[i].value = known ? G(d)->field[scope][id] : 0;
  }
  return OK;
}
struct process { unsigned pid; u64 memory; unsigned instance, compute; };
int nvmlDeviceGetComputeRunningProcesses_v3(struct device *d, unsigned *count, struct process *out) {
  ENTER(d)
  unsigned room = *count, have = *count = (unsigned)G(d)->processes;
  if (have > room) return TOO_SMALL;
  for (unsigned i = 0; i < have; i++) {
    unsigned instance = (unsigned)G(d)->instances[i];
    out[i] = (struct process){(unsigned)G(d)->pids[i], 1 << 30, instance, instance == NONE ? NONE : 0};
  }
  return OK;
}
int nvmlDeviceGetMigMode(struct device *d, unsigned *now, unsigned *pending)
{ ENTER(d) *now = *pending = (unsigned)G(d)->mig; return OK; }
NUMBER(nvmlDeviceGetMaxMigDeviceCount, unsigned, SLICES)
int nvmlDeviceGetMigDeviceHandleByIndex(struct device *d, unsigned index, struct device **out) {
  ENTER(d)
  if (index >= SLICES || !G(d)->slices[index].exists) return NOT_FOUND;
  *out = &devices[d->gpu][index + 1];
  return OK;
}
NUMBER(nvmlDeviceGetGpuInstanceId, unsigned, G(d)->slices[d->slice].instance)
NUMBER(nvmlDeviceGetComputeInstanceId, unsigned, G(d)->slices[d->slice].compute)

// Events: a set sees what is posted after a GPU was registered in it.
struct set { u64 seen; unsigned char watched[GPUS]; };
struct event { struct device *device; u64 type, data; unsigned instance, compute; };
int nvmlEventSetCreate(struct set **out)
{ if (driver()) return driver(); *out = calloc(1, sizeof **out); (*out)->seen = state->xids; return OK; }
int nvmlEventSetFree(struct set *set) { free(set); return OK; }
int nvmlDeviceRegisterEvents(struct device *d, u64 types, struct set *set)
{ ENTER(d) set->watched[d->gpu] = !!(types & XID); state->registered++; return OK; }
int nvmlEventSetWait_v2(struct set *set, struct event *out, unsigned milliseconds) {
  for (unsigned waited = 0;; waited += 2) {
    if (driver()) return driver();
    while (set->seen < *(volatile u64 *)&state->xids) {
      struct xid *x = &state->xid[set->seen++ % XIDS];
      if (!set->watched[x->gpu]) continue;
      *out = (struct event){&devices[x->gpu][0], XID, x->code, (unsigned)x->instance, NONE};
      return OK;
    }
    if (waited >= milliseconds) return TIMEOUT;
    usleep(2000);
  }
}

#ifdef NEW
struct memory_2 { unsigned version; u64 total, reserved, free, used; };
int nvmlDeviceGetMemoryInfo_v2(struct device *d, struct memory_2 *out) {
  ENTER(d)
  if (out->version != 0x2000028) return 25;
  struct slice *s = d->slice < 0 ? 0 : &G(d)->slices[d->slice];
  u64 total = s ? s->total : G(d)->total, used = s ? s->used : G(d)->used;
  *out = (struct memory_2){out->version, total, G(d)->reserved, total - used - G(d)->reserved, used};
  return OK;
}
struct temperature { unsigned version; int sensor, value; };
int nvmlDeviceGetTemperatureV(struct device *d, struct temperature *out)
{ ENTER(d) out->value = (int)G(d)->temperature; return out->version == 0x100000c ? OK : 25; }
struct margin { unsigned version; int value; };
int nvmlDeviceGetMarginTemperature(struct device *d, struct margin *out)
{ ENTER(d) out->value = (int)G(d)->margin; return out->version == 0x1000008 ? OK : 25; }
NUMBER(nvmlDeviceGetCurrentClocksEventReasons, u64, G(d)->reasons)
struct sram { unsigned version; u64 counts[11]; unsigned exceeded; };
int nvmlDeviceGetSramEccErrorStatus(struct device *d, struct sram *out) {
  ENTER(d)
  if (out->version != 0x1000068) return 25;
  memcpy(out->counts, G(d)->sram, sizeof out->counts);
  out->exceeded = (unsigned)G(d)->sram[11];
  return OK;
}
struct fabric { unsigned version; unsigned char cluster[16]; int status; unsigned clique; unsigned char state;
                unsigned health; };
int nvmlDeviceGetGpuFabricInfoV(struct device *d, struct fabric *out)
{ ENTER(d) out->state = (unsigned char)G(d)->fabric; return out->version == 0x2000024 ? OK : 25; }

struct sample { double gpm[METRICS]; };
struct metric { unsigned id; int error; double value; const char *names[3]; };
struct metrics { unsigned version, count; struct sample *first, *second; struct metric metric[]; };
struct support { unsigned version, supported; };
int nvmlGpmQueryDeviceSupport(struct device *d, struct support *out)
{ ENTER(d) out->supported = (unsigned)G(d)->gpm_supported; return OK; }
int nvmlGpmSampleAlloc(struct sample **out) { *out = calloc(1, sizeof **out); return OK; }
int nvmlGpmSampleFree(struct sample *sample) { free(sample); return OK; }
int nvmlGpmSampleGet(struct device *d, struct sample *out)
{ ENTER(d) memcpy(out->gpm, G(d)->gpm, sizeof out->gpm); return G(d)->mig ? NOT_SUPPORTED : OK; }
int nvmlGpmMigSampleGet(struct device *d, unsigned instance, struct sample *out) {
  ENTER(d)
  for (int s = 0; s < SLICES; s++)
    if (G(d)->slices[s].exists && G(d)->slices[s].instance == instance)
      return memcpy(out->gpm, G(d)->slices[s].gpm, sizeof out->gpm), OK;
  return NOT_FOUND;
}
int nvmlGpmMetricsGet(struct metrics *m) {
  for (unsigned i = 0; i < m->count; i++) {
    m->metric[i].error = m->metric[i].id < METRICS ? OK : INVALID;
    if (!m->metric[i].error) m->metric[i].value = m->second->gpm[m->metric[i].id];
  }
  return OK;
}
#endif
