#include "list.h"

#include <string.h>

#include "unit.h"

void tamp_list_init(TampList *list, TampArena *arena, const TampAtoms *atoms) {
  *list = (TampList){.arena = arena, .atoms = atoms};
  tamp_list_clear(list);
}

void tamp_list_clear(TampList *list) {
  list->count = list->heads = list->call_count = list->result_count = 0;
  list->group_count = list->open_count = list->float_count = 0;
  list->tokens = list->size = 0;
  list->sent = list->messages = list->live_groups = list->turns = 0;
  list->call_before = list->last_speaker = list->waiting = list->last_solid = TAMP_NONE;
  list->question = list->question_end = list->first_user = TAMP_NONE;
  list->batch = list->batch_entry = TAMP_NONE;
  list->due = list->due_end = 0;
  list->in_run = list->items = false;
  list->tidy = true;
}

void tamp_list_free(TampList *list) {
  void *tables[] = {list->entries, list->calls, list->results, list->groups, list->open, list->answered, list->floats};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) tamp_arena_drop(list->arena, tables[i]);
  tamp_list_init(list, list->arena, list->atoms);
}

TampStatus tamp_list_reserve(TampList *list, const TampList *like) {
  TampArena *arena = list->arena;
  TampStatus status = tamp_arena_grow(arena, (void **)&list->entries, &list->capacity, like->count,
                                      sizeof *list->entries);
  if (!status) {
    status = tamp_arena_grow(arena, (void **)&list->groups, &list->group_capacity, like->group_count,
                             sizeof *list->groups);
  }
  if (!status) {
    status = tamp_arena_grow(arena, (void **)&list->calls, &list->call_capacity, like->call_count,
                             sizeof *list->calls);
  }
  if (!status) {
    status = tamp_arena_grow(arena, (void **)&list->results, &list->result_capacity, like->result_count,
                             sizeof *list->results);
  }
  return status;
}

/* The tables by atom reach as far as the greatest that was asked for, so that a list which is made anew needs no
 * more than it had; TAMP_NONE where nothing was said yet. */
static TampStatus reach(TampList *list, uint32_t atom) {
  if (atom < list->open_count) return TAMP_OK;
  size_t count = (size_t)atom + 1;
  TampStatus status = tamp_arena_grow(list->arena, (void **)&list->open, &list->open_capacity, count,
                                      sizeof *list->open);
  if (!status) {
    status = tamp_arena_grow(list->arena, (void **)&list->answered, &list->answered_capacity, count,
                             sizeof *list->answered);
  }
  if (status) return status;
  size_t fresh = count - list->open_count;
  memset(list->open + list->open_count, 0xff, fresh * sizeof *list->open);
  memset(list->answered + list->open_count, 0xff, fresh * sizeof *list->answered);
  list->open_count = (uint32_t)count;
  return TAMP_OK;
}

static TampStatus new_group(TampList *list, TampGroupKind kind, uint32_t anchor, uint32_t *group) {
  TampStatus status = tamp_arena_grow(list->arena, (void **)&list->groups, &list->group_capacity,
                                      (size_t)list->group_count + 1, sizeof *list->groups);
  if (status) return status;
  *group = list->group_count++;
  list->groups[*group] = (TampGroup){
      .anchor = anchor,
      .first = TAMP_NONE,
      .last = TAMP_NONE,
      .turn = list->turns,
      .kind = (uint8_t)kind,
  };
  if (tamp_group_is_conversation(&list->groups[*group])) list->live_groups++;
  return TAMP_OK;
}

/* Whether an entry stands for its message in counts of messages. */
static bool counts(const TampList *list, uint32_t entry) {
  if (list->entries[entry].continues) return false;
  uint32_t at = list->entries[entry].head;
  if (at == entry) return true;
  while (at < entry && list->entries[at].record->role == TAMP_ROLE_SYSTEM) at++;
  return at == entry;
}

/* A message is counted where its first unit stands that is no instructions, and what it weighs as a whole where
 * its last one does: a window that takes the newest has then counted what it takes. */
static void join(TampList *list, uint32_t group, uint32_t entry) {
  TampGroup *to = &list->groups[group];
  const TampRecord *record = list->entries[entry].record;
  uint32_t head = list->entries[entry].head;
  if (head != entry) {
    TampGroup *before = &list->groups[list->entries[entry - 1].group];
    before->tokens -= TAMP_MESSAGE_TOKENS;
    before->size -= tamp_unit_shared(record);
  }
  list->entries[entry].group = group;
  list->entries[entry].next = TAMP_NONE;
  if (to->last == TAMP_NONE) {
    to->first = entry;
  } else {
    list->entries[to->last].next = entry;
  }
  to->last = entry;
  to->messages += counts(list, entry);
  to->tokens += record->tokens;
  if (list->entries[entry].continues) to->tokens -= TAMP_MESSAGE_TOKENS;
  to->size += record->size;
  to->pinned = to->pinned || (record->flags & TAMP_MESSAGE_PINNED) != 0;
}

void tamp_list_reweigh(TampList *list, uint32_t entry, uint32_t before, uint32_t tokens) {
  list->groups[list->entries[entry].group].tokens += (uint64_t)tokens - before;
  list->tokens += (uint64_t)tokens - before;
}

static void retire(TampList *list, uint32_t group) {
  if (tamp_group_is_conversation(&list->groups[group])) list->live_groups--;
  list->groups[group] = (TampGroup){.kind = TAMP_GROUP_GONE, .first = TAMP_NONE, .last = TAMP_NONE};
}

/* Reasoning that was waiting goes with `group`. Its own provisional groups go. */
static void claim_floats(TampList *list, uint32_t group) {
  for (uint32_t i = 0; i < list->float_count; i++) {
    uint32_t entry = list->floats[i];
    retire(list, list->entries[entry].group);
    join(list, group, entry);
  }
  list->float_count = 0;
}

/* Groups that share a message are one: the members of `from`, in list order among those of `into`. */
static void merge(TampList *list, uint32_t into, uint32_t from) {
  if (into == from) return;
  bool tool = list->groups[from].kind == TAMP_GROUP_TOOL;
  bool same = tool == (list->groups[into].kind == TAMP_GROUP_TOOL);
  if (same ? list->groups[from].anchor < list->groups[into].anchor : tool) {
    uint32_t swap = into;
    into = from;
    from = swap;
  }
  TampGroup *a = &list->groups[into];
  const TampGroup gone = list->groups[from];
  uint32_t left = a->first, right = gone.first;
  uint32_t *link = &a->first;
  uint32_t last = TAMP_NONE;
  while (left != TAMP_NONE || right != TAMP_NONE) {
    uint32_t take;
    if (right == TAMP_NONE || (left != TAMP_NONE && left < right)) {
      take = left;
      left = list->entries[left].next;
    } else {
      take = right;
      right = list->entries[right].next;
      list->entries[take].group = into;
    }
    *link = take;
    link = &list->entries[take].next;
    last = take;
  }
  *link = TAMP_NONE;
  a->last = last;
  a->messages += gone.messages;
  a->tokens += gone.tokens;
  a->size += gone.size;
  a->pinned = a->pinned || gone.pinned;
  a->awaits = a->awaits || gone.awaits;
  retire(list, from);
}

static TampStatus add_calls(TampList *list, uint32_t entry) {
  const TampRecord *record = list->entries[entry].record;
  list->entries[entry].calls = list->call_count;
  if (record->call_count == 0) return TAMP_OK;
  TampStatus status =
      tamp_arena_grow(list->arena, (void **)&list->calls, &list->call_capacity,
                      (size_t)list->call_count + record->call_count, sizeof *list->calls);
  if (status) return status;
  uint32_t first = list->call_count;
  for (uint32_t i = 0; i < record->call_count; i++) {
    list->calls[list->call_count++] = (TampListCall){
        .entry = entry, .index = i, .first = TAMP_NONE, .last = TAMP_NONE, .below = TAMP_NONE};
    if (record->calls[i].awaits) list->groups[list->entries[entry].group].awaits = true;
  }
  /* Backwards, so that of two calls with one id in this message the first gets the first result. */
  for (uint32_t i = record->call_count; i-- > 0;) {
    uint32_t atom = record->calls[i].id;
    if (atom == TAMP_NONE) continue;
    status = reach(list, atom);
    if (status) return status;
    if (record->calls[i].holds) continue; /* it is not open to others */
    list->calls[first + i].below = list->open[atom];
    list->open[atom] = first + i;
  }
  return TAMP_OK;
}

/* The call with this id has a result now. */
static void answer(TampList *list, uint32_t atom, uint32_t call) {
  uint32_t answered = list->answered[atom];
  if (answered == TAMP_NONE || answered < call) list->answered[atom] = call;
}

/* The call that a result belongs to which stands in a part of its own: the nearest open one with its id, else the
 * nearest answered one (then it is a duplicate), else none. */
static TampStatus pair(TampList *list, uint32_t atom, uint32_t *call) {
  *call = TAMP_NONE;
  if (atom == TAMP_NONE) return TAMP_OK;
  TampStatus status = reach(list, atom);
  if (status) return status;
  uint32_t open = list->open[atom];
  if (open == TAMP_NONE) {
    *call = list->answered[atom];
    return TAMP_OK;
  }
  list->open[atom] = list->calls[open].below;
  answer(list, atom, open);
  *call = open;
  return TAMP_OK;
}

/* Pairs the results of an entry. `group` is the tool group they all belong to, TAMP_NONE for orphans only. */
static TampStatus add_results(TampList *list, uint32_t entry, uint32_t *group) {
  const TampRecord *record = list->entries[entry].record;
  list->entries[entry].results = list->result_count;
  *group = TAMP_NONE;
  if (record->result_count == 0) return TAMP_OK;
  TampStatus status =
      tamp_arena_grow(list->arena, (void **)&list->results, &list->result_capacity,
                      (size_t)list->result_count + record->result_count, sizeof *list->results);
  if (status) return status;
  uint32_t holder = 0;
  for (uint32_t i = 0; i < record->result_count; i++) {
    uint32_t call;
    if (record->results[i].held) {
      while (!record->calls[holder].holds) holder++;
      call = list->entries[entry].calls + holder++;
      answer(list, record->results[i].id, call);
    } else {
      status = pair(list, record->results[i].id, &call);
      if (status) return status;
    }
    uint32_t result = list->result_count++;
    list->results[result] =
        (TampListResult){.entry = entry, .index = i, .call = call, .next = TAMP_NONE};
    if (call == TAMP_NONE) continue;
    TampListCall *answered = &list->calls[call];
    if (answered->first == TAMP_NONE) {
      answered->first = result;
    } else {
      list->results[answered->last].next = result;
    }
    answered->last = result;
    uint32_t owner = list->entries[answered->entry].group;
    if (*group == TAMP_NONE) {
      *group = owner;
    } else if (*group != owner) {
      merge(list, *group, owner);
      *group = list->entries[answered->entry].group;
    }
  }
  return TAMP_OK;
}

/* A summary with Tamp's mark stands anywhere. One that is known by its label alone must stand where Tamp puts
 * it: behind the leading instructions, at most the first user message between. */
static bool is_summary(const TampList *list, const TampRecord *record) {
  if (!(record->flags & TAMP_MESSAGE_SUMMARY)) return false;
  if (record->covered != TAMP_NONE) return true;
  return list->messages == 0 || (list->messages == 1 && list->first_user != TAMP_NONE);
}

/* So must a head that is known by its text: the first message after the instructions. */
static bool is_head(const TampList *list, const TampRecord *record) {
  if (!(record->flags & TAMP_MESSAGE_HEAD)) return false;
  return record->covered != TAMP_NONE || list->messages == 0;
}

static TampGroupKind kind_of(const TampList *list, const TampRecord *record, bool plain) {
  if (!plain && is_head(list, record)) return TAMP_GROUP_SYSTEM;
  if (!plain && is_summary(list, record)) return TAMP_GROUP_SUMMARY;
  if (record->call_count > 0) return TAMP_GROUP_TOOL;
  if (record->result_count > 0) return TAMP_GROUP_ORPHAN;
  switch (record->role) {
    case TAMP_ROLE_SYSTEM:
      return TAMP_GROUP_SYSTEM;
    case TAMP_ROLE_USER:
      return TAMP_GROUP_USER;
    case TAMP_ROLE_ASSISTANT:
    case TAMP_ROLE_REASONING:
      return TAMP_GROUP_ASSISTANT;
    case TAMP_ROLE_TOOL:
      return TAMP_GROUP_ORPHAN;
    case TAMP_ROLE_ACTIVITY:
      return TAMP_GROUP_ACTIVITY;
    default:
      return TAMP_GROUP_OTHER;
  }
}

/* Turns: a run of user messages opens one. Instructions, activity, summaries and results that stand with
 * their call do not end a run. */
static void follow_turns(TampList *list, uint32_t entry, TampGroupKind kind) {
  if (kind == TAMP_GROUP_SYSTEM || kind == TAMP_GROUP_ACTIVITY || kind == TAMP_GROUP_SUMMARY) return;
  if (kind != TAMP_GROUP_USER) {
    list->in_run = false;
    return;
  }
  if (!list->in_run) {
    list->turns++;
    list->question = entry;
  }
  list->question_end = entry;
  if (list->first_user == TAMP_NONE) list->first_user = entry;
  list->in_run = true;
}

/* Follows whether results stand where repair would put them. */
static void follow_results(TampList *list, uint32_t entry, TampGroupKind kind) {
  const TampEntry *item = &list->entries[entry];
  const TampRecord *record = item->record;
  if (kind == TAMP_GROUP_ACTIVITY || record->role == TAMP_ROLE_REASONING) return;
  bool whole = item->head == entry && record->batch == TAMP_NONE;
  if (record->call_count == 0 && (record->result_count > 0 || kind == TAMP_GROUP_ORPHAN)) {
    whole = whole && record->role == TAMP_ROLE_TOOL && record->result_count == 1;
    bool next = whole && list->due < list->due_end && list->results[item->results].call == list->due;
    list->tidy = list->tidy && next;
    list->due++;
    return;
  }
  whole = whole && (record->call_count == 0 || record->result_count == 0);
  list->tidy = list->tidy && whole && list->due >= list->due_end;
  list->due = item->calls;
  list->due_end = item->calls + record->call_count;
}

static TampStatus float_reasoning(TampList *list, uint32_t entry) {
  TampStatus status = tamp_arena_grow(list->arena, (void **)&list->floats, &list->float_capacity,
                                      (size_t)list->float_count + 1, sizeof *list->floats);
  if (status) return status;
  list->floats[list->float_count++] = entry;
  return TAMP_OK;
}

/* What a message is appended from: the units that are given, or those of its record. */
typedef struct Message {
  const TampUnit *units;
  const TampRecord *whole;
  uint32_t count;
  uint32_t origin;
} Message;

static TampUnit unit_at(const Message *message, uint32_t index) {
  if (message->units) return message->units[index];
  const TampRecord *whole = message->whole;
  return (TampUnit){whole->unit_count ? &whole->units[index] : whole, message->origin, index, false};
}

/* The group of the calls that the message stands directly behind, when it has a result of theirs. */
static uint32_t group_of_results(const TampList *list, const Message *message) {
  uint32_t before = list->call_before == TAMP_NONE ? TAMP_NONE : list->entries[list->call_before].group;
  for (uint32_t i = 0; i < message->count; i++) {
    const TampRecord *record = unit_at(message, i).record;
    for (uint32_t k = 0; record->call_count == 0 && k < record->result_count; k++) {
      uint32_t atom = record->results[k].id;
      if (atom == TAMP_NONE || atom >= list->open_count) continue;
      uint32_t call = list->open[atom] != TAMP_NONE ? list->open[atom] : list->answered[atom];
      if (call != TAMP_NONE && list->entries[list->calls[call].entry].group == before) return before;
    }
  }
  return TAMP_NONE;
}

/* The group that a message of several units belongs to as a whole (strategies.md §1), TAMP_NONE when each goes its
 * own way. */
static TampStatus find_host(TampList *list, const Message *message, uint32_t *host) {
  *host = TAMP_NONE;
  if (message->count == 1) return TAMP_OK;
  *host = group_of_results(list, message);
  if (*host != TAMP_NONE) return TAMP_OK;
  uint32_t user = TAMP_NONE, system = TAMP_NONE;
  for (uint32_t i = 0; i < message->count; i++) {
    const TampRecord *record = unit_at(message, i).record;
    if (record->result_count > 0) return TAMP_OK;
    if (record->role == TAMP_ROLE_SYSTEM) system = i;
    if (record->role == TAMP_ROLE_USER && user == TAMP_NONE) user = i;
  }
  if (user == TAMP_NONE || system == TAMP_NONE) return TAMP_OK;
  TampStatus status = new_group(list, TAMP_GROUP_USER, list->count + user, host);
  if (status) return status;
  follow_turns(list, list->count + user, TAMP_GROUP_USER);
  list->groups[*host].turn = list->turns;
  return TAMP_OK;
}

/* Everything but reasoning, results and activity ends what reasoning waits for. */
static void follow_speakers(TampList *list, uint32_t entry, bool speaks) {
  list->float_count = 0;
  list->call_before = list->entries[entry].record->call_count > 0 ? entry : TAMP_NONE;
  if (speaks) list->last_speaker = entry;
}

/* A unit that is counted with the group of its message. An approval goes with it too. */
static void append_to_host(TampList *list, uint32_t entry, uint32_t host) {
  TampEntry *item = &list->entries[entry];
  uint8_t role = item->record->role;
  join(list, host, entry);
  if (role == TAMP_ROLE_TOOL) return;
  item->stays = role == TAMP_ROLE_SYSTEM || list->groups[host].kind == TAMP_GROUP_TOOL;
  /* It opens a turn like any user message, which it may be when the results have gone; but behind a first user
   * message there is room, and here is none. */
  if (item->stays && role == TAMP_ROLE_USER) {
    uint32_t first_user = list->first_user;
    follow_turns(list, entry, TAMP_GROUP_USER);
    list->first_user = first_user;
  }
  follow_speakers(list, entry, role == TAMP_ROLE_USER);
}

static TampStatus append(TampList *list, uint32_t entry, TampGroupKind kind) {
  const TampRecord *record = list->entries[entry].record;
  uint32_t group = TAMP_NONE;
  /* What its message has said before, in records of their own. */
  uint32_t batch = list->entries[entry].continues ? list->batch_entry : TAMP_NONE;
  TampStatus status;
  if (record->call_count > 0) {
    /* Its calls first, so that results in the same message find them. */
    follow_turns(list, entry, kind);
    status = new_group(list, kind, entry, &group);
    if (status) return status;
    claim_floats(list, group);
    join(list, group, entry);
    status = add_calls(list, entry);
    uint32_t answered = TAMP_NONE;
    if (!status) status = add_results(list, entry, &answered);
    if (status) return status;
    if (answered != TAMP_NONE) merge(list, group, answered);
    group = list->entries[entry].group;
    if (batch != TAMP_NONE) merge(list, group, list->entries[batch].group);
  } else {
    status = add_calls(list, entry);
    if (!status) status = add_results(list, entry, &group);
    if (status) return status;
    if (group != TAMP_NONE) {
      /* Reasoning between the last call and one of its results goes with that call. */
      if (list->call_before != TAMP_NONE && list->entries[list->call_before].group == group) {
        claim_floats(list, group);
      }
      join(list, group, entry);
      return TAMP_OK;
    }
    follow_turns(list, entry, kind);
    if (batch != TAMP_NONE && kind == TAMP_GROUP_ASSISTANT && record->role == TAMP_ROLE_ASSISTANT) {
      group = list->entries[batch].group;
    } else {
      status = new_group(list, kind, entry, &group);
    }
    if (status) return status;
    bool speaks = record->role == TAMP_ROLE_ASSISTANT && kind == TAMP_GROUP_ASSISTANT;
    if (speaks) claim_floats(list, group);
    join(list, group, entry);
    if (kind == TAMP_GROUP_ACTIVITY || kind == TAMP_GROUP_ORPHAN) return TAMP_OK;
    if (record->role == TAMP_ROLE_REASONING) return float_reasoning(list, entry);
  }
  follow_speakers(list, entry,
                  kind == TAMP_GROUP_USER || kind == TAMP_GROUP_ASSISTANT || kind == TAMP_GROUP_TOOL);
  return TAMP_OK;
}

/* Counts an entry in what the list is as a whole. */
static void count_entry(TampList *list, uint32_t entry, TampGroupKind kind) {
  TampEntry *item = &list->entries[entry];
  const TampRecord *record = item->record;
  list->tokens += record->tokens;
  list->heads += item->head == entry;
  if (kind == TAMP_GROUP_ACTIVITY) {
    item->owner = list->last_solid;
    return;
  }
  list->size += record->size;
  if (item->continues || item->head != entry) list->tokens -= TAMP_MESSAGE_TOKENS;
  if (item->head != entry) list->size -= tamp_unit_shared(record);
  if (!item->continues && item->head == entry) list->sent++;
  if (kind != TAMP_GROUP_SYSTEM) list->messages += counts(list, entry);
  list->last_solid = entry;
}

/* Keeps track of messages that are several records. What comes between them are results. */
static void follow_batch(TampList *list, uint32_t entry, TampGroupKind kind) {
  const TampRecord *record = list->entries[entry].record;
  list->items = list->items || record->batch == TAMP_BATCH_ITEMS;
  if (record->batch >= TAMP_BATCH_ITEMS) {
    bool ends = kind == TAMP_GROUP_USER || kind == TAMP_GROUP_ASSISTANT || kind == TAMP_GROUP_TOOL;
    if (ends) list->batch = list->batch_entry = TAMP_NONE;
    return;
  }
  if (list->batch != record->batch) list->batch_entry = TAMP_NONE;
  list->batch = record->batch;
  if (record->role == TAMP_ROLE_ASSISTANT) list->batch_entry = entry;
}

static TampStatus append_message(TampList *list, const Message *message) {
  uint32_t head = list->count, host = TAMP_NONE;
  if (TAMP_NONE - 1 - list->count <= message->count) return TAMP_TOO_LARGE;
  TampStatus status = tamp_arena_grow(list->arena, (void **)&list->entries, &list->capacity,
                                      (size_t)list->count + message->count, sizeof *list->entries);
  if (!status) status = find_host(list, message, &host);
  for (uint32_t i = 0; !status && i < message->count; i++) {
    TampUnit unit = unit_at(message, i);
    const TampRecord *record = unit.record;
    uint32_t entry = list->count++;
    list->entries[entry] = (TampEntry){
        .record = record,
        .origin = message->origin,
        .source = unit.source,
        .unit = unit.unit,
        .head = head,
        .group = TAMP_NONE,
        .next = TAMP_NONE,
        .owner = TAMP_NONE,
    };
    TampGroupKind kind = kind_of(list, record, unit.plain);
    list->entries[entry].continues = record->batch < TAMP_BATCH_ITEMS && record->batch == list->batch;
    count_entry(list, entry, kind);
    bool bare = record->call_count == 0 && record->result_count == 0;
    /* An approval that stands alone goes with the call before it. */
    bool lone = record->role == TAMP_ROLE_TOOL && host == TAMP_NONE && list->call_before != TAMP_NONE;
    if (bare && (lone || host != TAMP_NONE)) {
      append_to_host(list, entry, lone ? list->entries[list->call_before].group : host);
      list->tidy = false;
      continue;
    }
    status = append(list, entry, kind);
    if (!status) follow_results(list, entry, kind);
    follow_batch(list, entry, kind);
    if (host != TAMP_NONE && list->groups[host].kind == TAMP_GROUP_GONE) host = list->entries[entry].group;
  }
  return status;
}

TampStatus tamp_list_append(TampList *list, const TampRecord *record, uint32_t origin) {
  return append_message(list, &(Message){NULL, record, record->unit_count ? record->unit_count : 1, origin});
}

TampStatus tamp_list_append_units(TampList *list, const TampUnit *units, uint32_t count, uint32_t origin) {
  return append_message(list, &(Message){units, NULL, count, origin});
}

bool tamp_list_tidy(const TampList *list) {
  if (!list->tidy || list->heads < list->count) return false;
  return list->due >= list->due_end || list->calls[list->due].entry == list->waiting;
}

void tamp_list_judge(TampList *list) {
  list->waiting = list->last_speaker;
}

bool tamp_list_call_waits(const TampList *list, uint32_t call, uint32_t speaker) {
  const TampListCall *item = &list->calls[call];
  const TampRecord *record = list->entries[item->entry].record;
  if (item->first != TAMP_NONE) return false;
  if (item->entry == speaker || record->calls[item->index].awaits) return true;
  if (record->batch == TAMP_NONE || speaker == TAMP_NONE || speaker < item->entry) return false;
  if (list->entries[speaker].record->batch != record->batch) return false;
  for (uint32_t i = item->entry; record->batch == TAMP_BATCH_ITEMS && i < speaker; i++) {
    const TampRecord *between = list->entries[i].record;
    bool said = between->role == TAMP_ROLE_USER || between->role == TAMP_ROLE_ASSISTANT;
    if (said && between->batch != TAMP_BATCH_ITEMS) return false;
  }
  return true;
}

bool tamp_list_call_pending(const TampList *list, uint32_t call) {
  return tamp_list_call_waits(list, call, list->waiting);
}

static bool contains(const uint32_t *sorted, size_t count, uint32_t value) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (sorted[middle] < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < count && sorted[low] == value;
}

bool tamp_entry_pinned(const TampEntry *entry, const uint32_t *pins, size_t pin_count) {
  if (entry->record->flags & TAMP_MESSAGE_PINNED) return true;
  return pin_count > 0 && entry->record->id != TAMP_NONE &&
         contains(pins, pin_count, entry->record->id);
}

static bool group_pending(const TampList *list, const TampGroup *group) {
  for (uint32_t i = group->first; i != TAMP_NONE; i = list->entries[i].next) {
    const TampEntry *entry = &list->entries[i];
    for (uint32_t k = 0; k < entry->record->call_count; k++) {
      if (tamp_list_call_pending(list, entry->calls + k)) return true;
    }
  }
  return false;
}

void tamp_list_protect(const TampList *list, const uint32_t *pins, size_t pin_count,
                       uint8_t *flags) {
  uint32_t newest = TAMP_NONE;
  for (uint32_t i = 0; i < list->group_count; i++) {
    const TampGroup *group = &list->groups[i];
    flags[i] = 0;
    if (group->kind == TAMP_GROUP_GONE) continue;
    if (group->pinned) flags[i] = TAMP_GROUP_PINNED | TAMP_GROUP_PROTECTED;
    if (group->kind == TAMP_GROUP_SYSTEM) flags[i] |= TAMP_GROUP_PROTECTED;
    if (tamp_group_is_conversation(group) && group->kind != TAMP_GROUP_ORPHAN) newest = i;
  }
  if (newest != TAMP_NONE) flags[newest] |= TAMP_GROUP_PROTECTED;
  for (uint32_t i = 0; pin_count > 0 && i < list->count; i++) {
    if (tamp_entry_pinned(&list->entries[i], pins, pin_count)) {
      flags[list->entries[i].group] |= TAMP_GROUP_PINNED | TAMP_GROUP_PROTECTED;
    }
  }
  /* Only the message that waited when the pass began, or calls up for approval, can be pending. */
  uint32_t waiting = list->waiting == TAMP_NONE ? TAMP_NONE : list->entries[list->waiting].group;
  for (uint32_t i = 0; i < list->group_count; i++) {
    const TampGroup *group = &list->groups[i];
    if (group->kind != TAMP_GROUP_TOOL || (i != waiting && !group->awaits && !list->items)) continue;
    if (group_pending(list, group)) flags[i] |= TAMP_GROUP_PENDING | TAMP_GROUP_PROTECTED;
  }
  if (list->question != TAMP_NONE) {
    for (uint32_t i = list->question; i <= list->question_end; i++) {
      uint32_t group = list->entries[i].group;
      if (list->groups[group].kind == TAMP_GROUP_USER || list->entries[i].stays) {
        flags[group] |= TAMP_GROUP_PROTECTED;
      }
    }
  }
}

uint32_t tamp_list_counted_result(const TampList *list, const uint32_t *pins, size_t pin_count,
                                  uint32_t call) {
  uint32_t best = TAMP_NONE;
  int best_rank = -1;
  for (uint32_t i = list->calls[call].first; i != TAMP_NONE; i = list->results[i].next) {
    const TampEntry *entry = &list->entries[list->results[i].entry];
    int rank = tamp_entry_pinned(entry, pins, pin_count) ? 2 : 0;
    rank += entry->record->results[list->results[i].index].blank ? 0 : 1;
    if (rank >= best_rank) {
      best = i;
      best_rank = rank;
    }
  }
  return best;
}
