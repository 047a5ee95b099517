/* Repair writes the list anew: each message is passed on, but results only directly behind their call.
 *
 * The *zone* of a call message is what stands behind it, up to the last of its own results, as long as that
 * is reasoning, activity or results: the same stretch in which reasoning belongs to the call (list.c). Its own
 * results are its slots. When exactly the results that belong there stand in the order of the calls, nothing
 * moves. Otherwise the slots are filled anew in that order: what had no slot (a late result, an answer)
 * stands in front of the first, and of too many slots (of results that do not count) the last are filled, so
 * that reasoning stays between its call and a result. Orphans that are kept go behind the zone.
 *
 * Where results are units of messages that may hold several, one message of the zone is the host: it takes in what
 * had no slot, and in a format of TAMP_FORMAT_ONE_BATCH all of the batch. Results stand in front in it. */
#include <string.h>

#include "../unit.h"
#include "strategy.h"

enum { DROP = 0, KEEP = 1 };                         /* orphanResults */
enum { ANSWER_STALE = 0, DROP_STALE = 1, KEEP_STALE = 2 }; /* staleCalls */
enum { ANY_HEAD = 0, USER_HEAD = 1 };                /* head */

/* What a list is read as before anything is done to it. */
static const TampRepairOptions moves_only = {
    .orphan_results = KEEP,
    .stale_calls = KEEP_STALE,
    .head = ANY_HEAD,
};

const TampRepairOptions tamp_repair_defaults = {
    .orphan_results = DROP,
    .stale_calls = ANSWER_STALE,
    .head = ANY_HEAD,
    .placeholder = {(const uint8_t *)"[no result was recorded]", 24},
};

static const char *const orphan_choices[] = {"drop", "keep", NULL};
static const char *const stale_choices[] = {"answer", "drop", "keep", NULL};
static const char *const head_choices[] = {"any", "user", NULL};

static const TampField fields[] = {
    {.name = "orphanResults",
     .type = TAMP_FIELD_CHOICE,
     .choices = orphan_choices,
     .offset = offsetof(TampRepairOptions, orphan_results)},
    {.name = "staleCalls",
     .type = TAMP_FIELD_CHOICE,
     .choices = stale_choices,
     .offset = offsetof(TampRepairOptions, stale_calls)},
    {.name = "head",
     .type = TAMP_FIELD_CHOICE,
     .choices = head_choices,
     .offset = offsetof(TampRepairOptions, head)},
    {.name = "placeholder",
     .type = TAMP_FIELD_TEXT,
     .offset = offsetof(TampRepairOptions, placeholder)},
};

/* What becomes of an entry. */
enum {
  PASS = 0,    /* in its place */
  WITH_CALL,   /* a result: behind its call */
  GONE,
};

typedef struct Repair {
  TampRun *run;
  const TampRepairOptions *options;
  TampStep step; /* for its marks and records; it is not committed */
  const TampList *list;
  uint8_t *fates;  /* by entry: PASS, WITH_CALL, GONE */
  uint8_t *placed; /* by entry: a message of results that was put behind a call */
  TampItem *items; /* the new list */
  uint32_t count;
  uint32_t home;   /* the head of the message that the last item is in; TAMP_NONE for one that was made */
  uint32_t *last;  /* by head: the last expected result that is in it, counted from 1; 0 for none */
  bool changed;
} Repair;

static void mark_gone(Repair *repair, uint32_t entry, const char *reason) {
  const TampList *list = repair->list;
  if (repair->fates[entry] == GONE || list->entries[entry].stays) return;
  repair->fates[entry] = GONE;
  repair->changed = true;
  tamp_run_reason(repair->run, list->entries[entry].origin, reason);
  for (uint32_t i = entry + 1; i < list->count && list->entries[i].owner == entry; i++) {
    if (tamp_entry_pinned(&list->entries[i], repair->run->pins, repair->run->pin_count)) continue;
    repair->fates[i] = GONE;
    tamp_run_reason(repair->run, list->entries[i].origin, reason);
  }
}

/* A message of results goes when all of them are orphans or do not count; messages of several results are
 * judged by the best of them. */
static void judge_results(Repair *repair) {
  const TampList *list = repair->list;
  for (uint32_t i = 0; i < list->count; i++) {
    const TampEntry *entry = &list->entries[i];
    const TampGroup *group = &list->groups[entry->group];
    if (group->kind == TAMP_GROUP_ORPHAN) {
      if (repair->options->orphan_results == DROP) {
        mark_gone(repair, i, "repair: a result without its call");
      }
      continue;
    }
    if (entry->record->result_count == 0 || entry->record->call_count > 0) continue;
    bool counts = false, duplicate = false;
    for (uint32_t k = 0; k < entry->record->result_count; k++) {
      uint32_t result = entry->results + k;
      uint32_t call = list->results[result].call;
      if (call == TAMP_NONE) continue;
      if (tamp_list_counted_result(list, repair->run->pins, repair->run->pin_count, call) == result) {
        counts = true;
      } else {
        duplicate = true;
      }
    }
    if (counts || (duplicate && repair->options == &moves_only)) {
      repair->fates[i] = WITH_CALL;
    } else if (duplicate) {
      mark_gone(repair, i, "repair: another result of the same call counts");
    }
  }
}

static bool is_stale(const TampList *list, uint32_t call) {
  return list->calls[call].first == TAMP_NONE && !tamp_list_call_pending(list, call);
}

/* A stale call that goes: when asked for, and when it has no id that an answer could name. */
static bool must_go(const Repair *repair, uint32_t call) {
  const TampList *list = repair->list;
  const TampListCall *item = &list->calls[call];
  if (repair->options->stale_calls == KEEP_STALE || !is_stale(list, call)) return false;
  return repair->options->stale_calls == DROP_STALE ||
         list->entries[item->entry].record->calls[item->index].id == TAMP_NONE;
}

/* Whether a call that stays is to be answered. */
static bool answers(const Repair *repair, uint32_t call) {
  const TampListCall *item = &repair->list->calls[call];
  const TampCall *facts = &repair->list->entries[item->entry].record->calls[item->index];
  if (!is_stale(repair->list, call) || facts->id == TAMP_NONE) return false;
  if (repair->options->stale_calls == ANSWER_STALE) return true;
  return repair->options->stale_calls == DROP_STALE &&
         tamp_step_protected(&repair->step, repair->list->entries[item->entry].group);
}

static bool own_results(const Repair *repair) {
  return (repair->run->format->flags & TAMP_FORMAT_OWN_RESULTS) != 0;
}

/* A result next to calls or to other results, in their message, that has no call, or for whose call another one
 * counts. */
static bool own_result_goes(const Repair *repair, uint32_t result) {
  const TampRun *run = repair->run;
  if (repair->options == &moves_only || own_results(repair)) return false;
  uint32_t call = repair->list->results[result].call;
  if (call == TAMP_NONE) return repair->options->orphan_results == DROP;
  return tamp_list_counted_result(repair->list, run->pins, run->pin_count, call) != result;
}

/* Takes stale calls out of a message, or the whole group when nothing is left of it, answers those that have
 * their results in the call, and takes out `results` that answer nothing. */
static TampStatus settle_own(Repair *repair, uint32_t at, uint32_t stale, uint32_t answered, uint32_t results) {
  TampRun *run = repair->run;
  const TampList *list = repair->list;
  const TampEntry *entry = &list->entries[at];
  const TampRecord *record = entry->record;
  if (stale > 0 && stale == record->call_count && !(record->flags & TAMP_RECORD_TEXT)) {
    for (uint32_t i = list->groups[entry->group].first; i != TAMP_NONE; i = list->entries[i].next) {
      mark_gone(repair, i, "repair: a call that never got its result");
    }
    return TAMP_OK;
  }
  TampMessage message;
  tamp_message_init(&message, run->arena);
  TampStatus status = tamp_step_read(&repair->step, at, &message);
  TampEdit *edits = tamp_step_alloc(&repair->step, (stale + answered + results) * sizeof *edits);
  if (!edits) return TAMP_NO_MEMORY;
  uint32_t count = 0, nth = 0, nth_result = 0;
  for (uint32_t i = 0; !status && i < message.count; i++) {
    if (message.parts[i].kind == TAMP_PART_RESULT && results > 0 &&
        own_result_goes(repair, entry->results + nth_result++)) {
      edits[count++] = (TampEdit){.kind = TAMP_EDIT_DROP_CALL, .part = i};
    }
    if (message.parts[i].kind != TAMP_PART_CALL) continue;
    uint32_t call = entry->calls + nth++;
    if (stale > 0 && must_go(repair, call)) {
      edits[count++] = (TampEdit){.kind = TAMP_EDIT_DROP_CALL, .part = i};
    } else if (answered > 0 && answers(repair, call)) {
      edits[count++] = (TampEdit){TAMP_EDIT_ANSWER, i, repair->options->placeholder};
    }
  }
  const TampRecord *rewritten;
  if (!status) status = tamp_step_edit(&repair->step, &message, edits, count, &rewritten);
  if (!status) status = tamp_step_rewrite(&repair->step, at, rewritten);
  if (status) return status;
  repair->changed = true;
  run->rewritten++;
  if (rewritten->tokens > record->tokens) run->added_tokens += rewritten->tokens - record->tokens;
  tamp_run_reason(run, entry->origin, answered > 0 ? "repair: answers a call that never got its result"
                                      : stale > 0  ? "repair: without calls that never got their results"
                                                   : "repair: without results that answer no call");
  return TAMP_OK;
}

static TampStatus judge_own(Repair *repair) {
  const TampList *list = repair->list;
  for (uint32_t i = 0; i < list->count; i++) {
    const TampEntry *entry = &list->entries[i];
    /* What is pinned stays as it is, and is answered instead. */
    bool free = !tamp_step_protected(&repair->step, entry->group);
    uint32_t stale = 0, answered = 0, results = 0;
    /* Of a message that is results alone only what could not be parted is left to be judged here: an assistant's. */
    bool shared = entry->record->call_count > 0 || repair->fates[i] == WITH_CALL;
    for (uint32_t k = 0; shared && k < entry->record->result_count; k++) {
      results += own_result_goes(repair, entry->results + k);
    }
    for (uint32_t k = 0; k < entry->record->call_count; k++) {
      bool goes = free && must_go(repair, entry->calls + k);
      stale += goes;
      answered += !goes && own_results(repair) && answers(repair, entry->calls + k);
    }
    if (stale + answered + results == 0 || repair->fates[i] == GONE) continue;
    TampStatus status = settle_own(repair, i, stale, answered, results);
    if (status) return status;
  }
  return TAMP_OK;
}

/* Adds an item that is in the message at `home`, TAMP_NONE for a message of its own. */
static void put(Repair *repair, const TampRecord *record, uint32_t from, uint32_t home) {
  bool joined = repair->count > 0 && home != TAMP_NONE && home == repair->home;
  uint32_t origin = home == TAMP_NONE ? TAMP_NONE : repair->list->entries[home].origin;
  repair->items[repair->count++] = (TampItem){record, origin, from, false, joined};
  repair->home = home;
}

static const TampRecord *record_of(const Repair *repair, uint32_t at) {
  const TampRecord *rewritten = repair->step.rewrites ? repair->step.rewrites[at] : NULL;
  return rewritten ? rewritten : repair->list->entries[at].record;
}

/* An entry and the activity that goes with it. */
static void pass_on(Repair *repair, uint32_t at) {
  const TampList *list = repair->list;
  put(repair, record_of(repair, at), at, list->entries[at].head);
  for (uint32_t i = at + 1; i < list->count && list->entries[i].owner == at; i++) {
    bool pinned = tamp_entry_pinned(&list->entries[i], repair->run->pins, repair->run->pin_count);
    if (pinned || repair->fates[i] == GONE) continue;
    put(repair, list->entries[i].record, i, i);
  }
}

/* Adds an item to the message that the last one is in, `joined`, or as the first at `home`. */
static TampStatus put_unit(Repair *repair, const TampRecord *record, uint32_t from, uint32_t home, bool joined) {
  if (joined && record->piece.shared == 0) {
    TampStatus status = tamp_unit_of(repair->run->format, record, repair->run->arena, &record);
    if (status) return status;
  }
  put(repair, record, from, home);
  repair->items[repair->count - 1].joined = joined;
  return TAMP_OK;
}

static TampStatus put_answer(Repair *repair, uint32_t call, uint32_t home, bool joined) {
  static const char why[] = "repair: answers a call that never got its result";
  TampRun *run = repair->run;
  const TampListCall *item = &repair->list->calls[call];
  const TampCall *facts = &repair->list->entries[item->entry].record->calls[item->index];
  uint8_t id_room[TAMP_ATOM_ROOM], name_room[TAMP_ATOM_ROOM];
  TampText call_id = tamp_atoms_text(run->atoms, facts->id, id_room);
  TampDraft draft = {
      .role = TAMP_ROLE_TOOL,
      .text = repair->options->placeholder,
      .call = call_id,
      .name = facts->name == TAMP_NONE ? (TampText){0} : tamp_atoms_text(run->atoms, facts->name, name_room),
  };
  TampStatus status = tamp_run_fresh_id(run, TAMP_TEXT("answer-"), call_id, &draft.id);
  if (!status) status = tamp_run_take_id(run, draft.id);
  const TampRecord *record;
  if (!status) status = tamp_run_draft(run, &draft, &record);
  if (!status) status = put_unit(repair, record, TAMP_NONE, home, joined);
  if (status) return status;
  repair->changed = true;
  run->added_tokens += record->tokens;
  if (home != TAMP_NONE) tamp_run_reason(run, repair->list->entries[home].origin, why);
  return home != TAMP_NONE || joined ? TAMP_OK : tamp_run_added(run, record, why);
}

/* The expected results of a call message, in the order of its calls: entries, or TAMP_NONE - 1 - call for an
 * answer to be made. A message with several results is expected once. */
static uint32_t expect(const Repair *repair, uint32_t at, uint64_t *expected) {
  const TampList *list = repair->list;
  const TampEntry *entry = &list->entries[at];
  uint32_t count = 0;
  for (uint32_t k = 0; k < entry->record->call_count; k++) {
    uint32_t call = entry->calls + k;
    uint32_t result = list->calls[call].first;
    if (result == TAMP_NONE) {
      if (!own_results(repair) && answers(repair, call)) expected[count++] = (uint64_t)call << 32 | TAMP_NONE;
      continue;
    }
    for (; result != TAMP_NONE; result = list->results[result].next) {
      uint32_t from = list->results[result].entry;
      if (from == at || repair->fates[from] != WITH_CALL || repair->placed[from]) continue;
      repair->placed[from] = 1;
      expected[count++] = from;
    }
  }
  return count;
}

static TampStatus put_expected(Repair *repair, uint64_t expected) {
  if ((uint32_t)expected == TAMP_NONE) return put_answer(repair, (uint32_t)(expected >> 32), TAMP_NONE, false);
  pass_on(repair, (uint32_t)expected);
  return TAMP_OK;
}

/* A message of results and nothing else that a provider would hear as somebody speaking. */
static bool is_results(const TampList *list, uint32_t at) {
  const TampEntry *entry = &list->entries[at];
  return entry->record->call_count == 0 &&
         (entry->record->result_count > 0 || list->groups[entry->group].kind == TAMP_GROUP_ORPHAN);
}

/* Where a result of the zone stands, or stood: one that another result of its call replaced leaves its slot. */
static bool is_slot(const Repair *repair, uint32_t at) {
  return repair->fates[at] == WITH_CALL ||
         (repair->fates[at] == GONE && is_results(repair->list, at));
}

/* The message of the zone (at, last] that takes in the results of the batch; TAMP_NONE when it has none. */
static uint32_t find_host(const Repair *repair, uint32_t at, uint32_t last, const uint64_t *expected,
                          uint32_t count) {
  const TampEntry *entries = repair->list->entries;
  for (uint32_t i = at + 1; i <= last; i++) {
    if (repair->fates[i] == WITH_CALL && entries[i].group == entries[at].group) return entries[i].head;
  }
  for (uint32_t i = 0; i < count; i++) {
    if ((uint32_t)expected[i] != TAMP_NONE) return entries[(uint32_t)expected[i]].head;
  }
  return TAMP_NONE;
}

/* Puts the results of a batch, where they may share a message: in the host, or each in its own as long as that
 * stays in one piece. */
static TampStatus put_batch(Repair *repair, uint32_t host, bool one, const uint64_t *expected, uint32_t count) {
  const TampEntry *entries = repair->list->entries;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t from = (uint32_t)expected[i];
    if (from != TAMP_NONE) repair->last[entries[from].head] = i + 1;
  }
  uint32_t until = 0, home = TAMP_NONE;
  repair->run->rewritten += one && host != TAMP_NONE;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t from = (uint32_t)expected[i];
    uint32_t head = from == TAMP_NONE ? TAMP_NONE : entries[from].head;
    if (one) {
      /* Made answers alone are a message too: they are at home where the first one is. */
      home = host;
    } else if (i >= until) {
      home = head;
    }
    if (head != TAMP_NONE && repair->last[head] > until) until = repair->last[head];
    bool joined = i > 0 && (one || (home != TAMP_NONE && home == repair->home));
    TampStatus status = from == TAMP_NONE ? put_answer(repair, (uint32_t)(expected[i] >> 32), home, joined)
                                          : put_unit(repair, record_of(repair, from), from, home, joined);
    if (status) return status;
    if (from != TAMP_NONE && home != head) {
      tamp_run_reason(repair->run, entries[from].origin, "repair: a result put with the others of its calls");
      tamp_run_reason(repair->run, entries[home].origin, "repair: took in results of the same calls");
    }
  }
  return TAMP_OK;
}

/* The rest of a zone whose results were put already: what is counted with them goes where they are, and then comes
 * what stands in other messages. */
static TampStatus pass_rest(Repair *repair, uint32_t at, uint32_t last, uint32_t host, bool one) {
  const TampEntry *entries = repair->list->entries;
  for (int others = 0; others < 2; others++) {
    for (uint32_t i = at + 1; i <= last; i++) {
      bool with_results = entries[i].head == host || (one && entries[i].group == entries[at].group);
      if (repair->fates[i] != PASS || with_results != (others == 0)) continue;
      if (with_results && entries[i].head != host && host != TAMP_NONE) {
        TampStatus status = put_unit(repair, record_of(repair, i), i, host, true);
        if (status) return status;
        tamp_run_reason(repair->run, entries[i].origin, "repair: put with the results of the same calls");
      } else {
        pass_on(repair, i);
      }
    }
  }
  return TAMP_OK;
}

/* Writes a call message, its zone and its results; returns the last entry of the zone. */
static TampStatus pass_group(Repair *repair, uint32_t at, uint64_t *expected, uint32_t *end) {
  const TampList *list = repair->list;
  uint32_t group = list->entries[at].group;
  uint32_t expected_count = expect(repair, at, expected);
  uint32_t slots = 0, standing = 0;
  bool in_order = true;
  bool one = (repair->run->format->flags & TAMP_FORMAT_ONE_BATCH) != 0;
  uint32_t first = TAMP_NONE; /* message of results */
  bool beside = false; /* something else that stands in messages of results */
  bool loose = false; /* reasoning that no result would follow any more */
  bool reasoning = false;
  uint32_t last = at;
  for (uint32_t i = at + 1; i < list->count; i++) {
    const TampEntry *entry = &list->entries[i];
    if (entry->record->role == TAMP_ROLE_REASONING) reasoning = true;
    if (entry->record->role == TAMP_ROLE_ACTIVITY || entry->record->role == TAMP_ROLE_REASONING) continue;
    if (entry->group != group && is_results(list, i)) continue;
    if (entry->group != group || entry->record->call_count > 0) break;
    last = i;
    slots += is_slot(repair, i);
    loose = loose || reasoning;
    reasoning = false;
    if (repair->fates[i] != WITH_CALL) {
      beside = beside || entry->record->result_count == 0;
      continue;
    }
    loose = false;
    in_order = in_order && standing < expected_count && expected[standing] == i;
    /* In one message, and nothing else before them. */
    if (first == TAMP_NONE) first = entry->head;
    if (one && (beside || entry->head != first)) in_order = false;
    standing++;
  }
  in_order = in_order && standing == expected_count;
  pass_on(repair, at);
  if (!in_order && (one || list->heads < list->count)) {
    uint32_t host = find_host(repair, at, last, expected, expected_count);
    TampStatus status = put_batch(repair, host, one || beside, expected, expected_count);
    if (!status) status = pass_rest(repair, at, last, host, one || beside);
    repair->changed = true;
    *end = last;
    return status;
  }
  uint32_t next = 0;
  uint32_t passed = 0; /* slots */
  uint32_t behind = 0; /* kept orphans of the zone */
  if (slots == 0) {
    while (next < expected_count) {
      TampStatus status = put_expected(repair, expected[next++]);
      if (status) return status;
    }
  }
  for (uint32_t i = at + 1; i <= last; i++) {
    const TampEntry *entry = &list->entries[i];
    bool slot = entry->group == group && is_slot(repair, i);
    if (repair->fates[i] == GONE && !slot) continue;
    if (entry->record->role == TAMP_ROLE_ACTIVITY) {
      bool pinned = tamp_entry_pinned(entry, repair->run->pins, repair->run->pin_count);
      if (entry->owner == TAMP_NONE || pinned) pass_on(repair, i);
      continue;
    }
    if (entry->group != group && is_results(list, i)) {
      behind += repair->fates[i] == PASS; /* the others stand with their own calls */
      continue;
    }
    if (!slot || (in_order && !loose)) {
      if (repair->fates[i] != GONE) pass_on(repair, i);
      continue;
    }
    /* The first slot also takes those that have none; of too many slots the last are filled. */
    uint32_t here = next == 0 && expected_count > slots ? expected_count - slots + 1 : 1;
    if (slots - passed > expected_count - next) here = 0;
    passed++;
    for (; here > 0 && next < expected_count; here--) {
      TampStatus status = put_expected(repair, expected[next++]);
      if (status) return status;
    }
  }
  for (uint32_t i = at + 1; behind > 0 && i <= last; i++) {
    if (repair->fates[i] != PASS || list->entries[i].group == group || !is_results(list, i)) continue;
    pass_on(repair, i);
    behind--;
    repair->changed = true;
  }
  if (!in_order) repair->changed = true;
  *end = last;
  return TAMP_OK;
}

/* Puts a user message in front when the first message after the instructions is not the user's. */
static TampStatus put_head(Repair *repair) {
  TampRun *run = repair->run;
  uint32_t first = 0;
  while (first < repair->count) {
    const TampRecord *record = repair->items[first].record;
    bool head = (record->flags & TAMP_MESSAGE_HEAD) != 0;
    bool instructions = record->role == TAMP_ROLE_SYSTEM && !head;
    if (!instructions && record->role != TAMP_ROLE_ACTIVITY) break;
    first++;
  }
  if (first == repair->count) return TAMP_OK;
  const TampRecord *next = repair->items[first].record;
  if (next->role == TAMP_ROLE_USER && next->result_count == 0) return TAMP_OK;
  TampDraft draft = {
      .role = TAMP_ROLE_USER,
      .text = TAMP_TEXT(TAMP_HEAD_TEXT),
      .flags = TAMP_MESSAGE_HEAD,
  };
  TampText name;
  TampStatus status =
      tamp_run_name(run, next, repair->items[first].origin, &name);
  if (!status) status = tamp_run_fresh_id(run, TAMP_TEXT("head-"), name, &draft.id);
  const TampRecord *record;
  if (!status) status = tamp_run_draft(run, &draft, &record);
  if (status) return status;
  while (repair->items[first].joined) first--;
  memmove(&repair->items[first + 1], &repair->items[first],
          (repair->count - first) * sizeof *repair->items);
  repair->items[first] = (TampItem){record, TAMP_NONE, TAMP_NONE, false, false};
  repair->count++;
  repair->changed = true;
  run->added_tokens += record->tokens;
  return tamp_run_added(run, record, "repair: for providers that want the user first");
}

/* A unit that was put behind its call while others of its message stay where they are makes a message of its own:
 * the last place a message is at is its own. */
static TampStatus name_parted(Repair *repair) {
  TampRun *run = repair->run;
  uint8_t *used = tamp_step_alloc(&repair->step, run->input_count);
  if (!used) return TAMP_NO_MEMORY;
  for (uint32_t i = repair->count; i-- > 0;) {
    TampItem *item = &repair->items[i];
    if (item->joined || item->origin == TAMP_NONE) continue;
    if (!used[item->origin]) {
      used[item->origin] = 1;
      continue;
    }
    tamp_run_reason(run, item->origin, "repair: a result put behind its call");
    for (uint32_t k = i; k < repair->count && (k == i || repair->items[k].joined); k++) {
      repair->items[k].origin = TAMP_NONE;
    }
    run->added_tokens += TAMP_MESSAGE_TOKENS;
    TampStatus status = tamp_run_added(run, item->record, "repair: a result put behind its call");
    if (status) return status;
  }
  return TAMP_OK;
}

static TampStatus rebuild(Repair *repair) {
  const TampList *list = repair->list;
  size_t most = (size_t)list->count + list->call_count + 1;
  size_t most_expected = (size_t)list->call_count + list->result_count + 1;
  uint64_t *expected = tamp_step_alloc(&repair->step, most_expected * sizeof *expected);
  repair->items = tamp_step_alloc(&repair->step, most * sizeof *repair->items);
  if (!expected || !repair->items) return TAMP_NO_MEMORY;
  for (uint32_t i = 0; i < list->count; i++) {
    const TampEntry *entry = &list->entries[i];
    bool in_place = (repair->run->format->flags & TAMP_FORMAT_IN_PLACE) != 0;
    if (repair->fates[i] != PASS && !(in_place && repair->fates[i] == WITH_CALL)) continue;
    if (entry->record->role == TAMP_ROLE_ACTIVITY) {
      /* The others were passed on with their messages. */
      bool pinned = tamp_entry_pinned(entry, repair->run->pins, repair->run->pin_count);
      if (entry->owner == TAMP_NONE || pinned) pass_on(repair, i);
      continue;
    }
    if (entry->record->call_count == 0 || in_place) {
      pass_on(repair, i);
      for (uint32_t k = 0; k < entry->record->call_count; k++) {
        if (!answers(repair, entry->calls + k)) continue;
        TampStatus status = put_answer(repair, entry->calls + k, TAMP_NONE, false);
        if (status) return status;
      }
      continue;
    }
    TampStatus status = pass_group(repair, i, expected, &i);
    if (status) return status;
  }
  TampStatus status = repair->options->head == USER_HEAD ? put_head(repair) : TAMP_OK;
  if (!status && list->heads < list->count) status = name_parted(repair);
  return status;
}

TampStatus tamp_repair(TampRun *run, const TampRepairOptions *options) {
  run->nothing_left = false;
  if (options->head == ANY_HEAD && tamp_list_tidy(run->list)) return TAMP_OK;
  Repair repair = {.run = run, .options = options, .list = run->list, .home = TAMP_NONE};
  TampStatus status = tamp_step_begin(run, "", &repair.step);
  if (status) return status;
  repair.fates = tamp_step_alloc(&repair.step, run->list->count);
  repair.placed = tamp_step_alloc(&repair.step, run->list->count);
  repair.last = tamp_step_alloc(&repair.step, run->list->count * sizeof *repair.last);
  if (!repair.fates || !repair.placed || !repair.last) return TAMP_NO_MEMORY;
  judge_results(&repair);
  status = judge_own(&repair);
  if (!status) status = rebuild(&repair);
  if (status || !repair.changed) return status;
  uint32_t changes = run->changes;
  status = tamp_run_replace(run, repair.items, repair.count);
  run->nothing_left = !status && run->changes == changes;
  return status;
}

TampStatus tamp_straighten(TampRun *run) {
  const TampList *given = run->list;
  /* Where results share messages, moving them is more than an order. */
  if (given->heads < given->count || (run->format->flags & (TAMP_FORMAT_ONE_BATCH | TAMP_FORMAT_IN_PLACE))) {
    return TAMP_OK;
  }
  TampStatus status = tamp_repair(run, &moves_only);
  if (status || run->list == given) return status;
  run->straightened = true;
  run->changes--;
  return TAMP_OK;
}

static TampStatus run_repair(TampRun *run, const TampPolicy *policy) {
  tamp_run_fired(run);
  if (run->straightened) run->changes++;
  run->straightened = false;
  return tamp_repair(run, policy->options);
}

static bool weighs(const void *options) {
  (void)options;
  return false;
}

const TampStrategy tamp_strategy_repair = {
    .name = "repair",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .options_size = sizeof(TampRepairOptions),
    .defaults = &tamp_repair_defaults,
    .run = run_repair,
    .weighs = weighs,
};
