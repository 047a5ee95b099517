/* Inspection of api.d.ts: sizes, groups, turns, and why a provider would refuse the list (strategies.md §1). */
#include "history.h"

#include <string.h>

static void write_text(TampWriter *writer, const char *text) {
  tamp_writer_raw(writer, (TampText){(const uint8_t *)text, strlen(text)});
}

static const char *kind_name(uint8_t kind) {
  static const char *const names[] = {
      [TAMP_GROUP_GONE] = "",         [TAMP_GROUP_SYSTEM] = "system",
      [TAMP_GROUP_USER] = "user",     [TAMP_GROUP_ASSISTANT] = "assistant",
      [TAMP_GROUP_TOOL] = "tool",     [TAMP_GROUP_SUMMARY] = "summary",
      [TAMP_GROUP_ACTIVITY] = "activity", [TAMP_GROUP_ORPHAN] = "orphan",
      [TAMP_GROUP_OTHER] = "other",
  };
  return names[kind];
}

/* Groups stand in the order of their anchors; a reader expects that of their first messages. */
static void write_groups(TampWriter *writer, const TampList *list, const uint8_t *flags) {
  bool any = false;
  write_text(writer, ",\"groups\":[");
  for (uint32_t i = 0; i < list->count; i++) {
    const TampGroup *group = &list->groups[list->entries[i].group];
    if (group->first != i) continue;
    uint8_t flag = flags[list->entries[i].group];
    write_text(writer, any ? ",{\"kind\":\"" : "{\"kind\":\"");
    any = true;
    write_text(writer, kind_name(group->kind));
    write_text(writer, "\",\"indices\":[");
    uint32_t last = TAMP_NONE;
    for (uint32_t k = i; k != TAMP_NONE; k = list->entries[k].next) {
      if (list->entries[k].origin == last) continue; /* another unit of the message */
      if (k != i) write_text(writer, ",");
      last = list->entries[k].origin;
      tamp_writer_integer(writer, last);
    }
    write_text(writer, "],\"tokens\":");
    tamp_writer_integer(writer, group->tokens);
    write_text(writer, flag & TAMP_GROUP_PENDING ? ",\"pending\":true" : ",\"pending\":false");
    write_text(writer, flag & TAMP_GROUP_PROTECTED ? ",\"protected\":true}" : ",\"protected\":false}");
  }
  write_text(writer, "]");
}

typedef struct Problems {
  TampWriter *writer;
  const TampList *list;
  bool any;
} Problems;

/* At an entry, TAMP_NONE for none. */
static void problem(Problems *problems, const char *kind, uint32_t entry, const char *detail,
                    TampText id) {
  TampWriter *writer = problems->writer;
  write_text(writer, problems->any ? ",{\"kind\":\"" : "{\"kind\":\"");
  problems->any = true;
  write_text(writer, kind);
  write_text(writer, "\",\"index\":");
  if (entry == TAMP_NONE) {
    write_text(writer, "-1");
  } else {
    tamp_writer_integer(writer, problems->list->entries[entry].origin);
  }
  write_text(writer, ",\"detail\":\"");
  write_text(writer, detail);
  if (id.length > 0) {
    write_text(writer, ": ");
    tamp_writer_escaped(writer, id);
  }
  write_text(writer, "\"}");
}

static void result_problems(Problems *problems, const TampList *list, const TampAtoms *atoms,
                            const uint32_t *last_unanswered) {
  /* The call message that a result standing here follows directly: only reasoning, activity and results of
   * its own group stand between. */
  uint32_t followed = TAMP_NONE;
  for (uint32_t i = 0; i < list->count; i++) {
    const TampEntry *entry = &list->entries[i];
    const TampRecord *record = entry->record;
    if (record->call_count > 0) {
      followed = i;
    } else if (record->role != TAMP_ROLE_ACTIVITY && record->role != TAMP_ROLE_REASONING &&
               followed != TAMP_NONE && entry->group != list->entries[followed].group) {
      followed = TAMP_NONE;
    }
    if (list->groups[entry->group].kind == TAMP_GROUP_ORPHAN && record->result_count == 0) {
      problem(problems, "orphan-result", i, "a result that names no call", (TampText){0});
    }
    for (uint32_t k = 0; k < record->result_count; k++) {
      uint32_t index = entry->results + k;
      const TampListResult *result = &list->results[index];
      uint32_t atom = record->results[k].id;
      uint8_t room[TAMP_ATOM_ROOM];
      TampText id = atom == TAMP_NONE ? (TampText){0} : tamp_atoms_text(atoms, atom, room);
      if (result->call == TAMP_NONE) {
        uint32_t open = atom == TAMP_NONE ? TAMP_NONE : last_unanswered[atom];
        bool early = open != TAMP_NONE && open > i;
        problem(problems, early ? "result-before-call" : "orphan-result", i,
                early ? "a result that stands before its call" : "a result without its call", id);
        continue;
      }
      const TampListCall *call = &list->calls[result->call];
      if (call->first != index) {
        problem(problems, "duplicate-result", i, "another result of a call that has one", id);
      } else if (call->entry != i && call->entry != followed) {
        problem(problems, "split-parallel", i, "a result that is not directly after its call", id);
      }
    }
  }
}

static void call_problems(Problems *problems, const TampList *list, const TampAtoms *atoms) {
  for (uint32_t i = 0; i < list->call_count; i++) {
    const TampListCall *call = &list->calls[i];
    if (call->first != TAMP_NONE || tamp_list_call_pending(list, i)) continue;
    const TampCall *facts = &list->entries[call->entry].record->calls[call->index];
    uint8_t room[TAMP_ATOM_ROOM];
    TampText id = facts->id == TAMP_NONE ? (TampText){0} : tamp_atoms_text(atoms, facts->id, room);
    problem(problems, "unanswered-call", call->entry, "a call without its result", id);
  }
}

/* Message ids that occur before, and call ids used again while the call before has no result yet. `seen` is a
 * table by atom. */
static void id_problems(Problems *problems, const TampList *list, const TampAtoms *atoms,
                        uint8_t *seen) {
  enum { MESSAGE_ID = 1, OPEN_CALL = 2 };
  for (uint32_t i = 0; i < list->count; i++) {
    const TampEntry *entry = &list->entries[i];
    const TampRecord *record = entry->record;
    uint8_t room[TAMP_ATOM_ROOM];
    if (record->id != TAMP_NONE && !tamp_entry_joined(list, i)) {
      if (seen[record->id] & MESSAGE_ID) {
        problem(problems, "duplicate-id", i, "a message id that was used before",
                tamp_atoms_text(atoms, record->id, room));
      }
      seen[record->id] |= MESSAGE_ID;
    }
    for (uint32_t k = 0; k < record->call_count; k++) {
      uint32_t atom = record->calls[k].id;
      if (atom == TAMP_NONE) continue;
      if (seen[atom] & OPEN_CALL) {
        problem(problems, "duplicate-id", i, "a call id that is still open",
                tamp_atoms_text(atoms, atom, room));
      }
      seen[atom] |= OPEN_CALL;
    }
    for (uint32_t k = 0; k < record->result_count; k++) {
      uint32_t atom = record->results[k].id;
      if (atom != TAMP_NONE) seen[atom] &= (uint8_t)~OPEN_CALL;
    }
  }
}

TampStatus tamp_history_inspect(TampHistory *history, const TampOptions *options, TampArena *arena,
                                TampText *json) {
  TampStatus status = tamp_history_count(history, options);
  uint32_t *pins = NULL, pin_count = 0;
  if (!status) status = tamp_history_pins(history, options, arena, &pins, &pin_count);
  if (status) return status;
  TampList *list = &history->list;
  const TampAtoms *atoms = &history->atoms;
  uint8_t *flags = tamp_arena_alloc(arena, list->group_count);
  uint8_t *seen = tamp_arena_alloc(arena, atoms->count);
  uint32_t *unanswered = tamp_arena_alloc(arena, atoms->count * sizeof *unanswered);
  if (!flags || !seen || !unanswered) return TAMP_NO_MEMORY;
  memset(seen, 0, atoms->count);
  memset(unanswered, 0xff, atoms->count * sizeof *unanswered);
  tamp_list_judge(list);
  tamp_list_protect(list, pins, pin_count, flags);
  for (uint32_t i = 0; i < list->call_count; i++) {
    const TampListCall *call = &list->calls[i];
    uint32_t atom = list->entries[call->entry].record->calls[call->index].id;
    if (atom != TAMP_NONE && call->first == TAMP_NONE) unanswered[atom] = call->entry;
  }

  TampWriter writer = tamp_writer(arena);
  write_text(&writer, "{\"messages\":");
  tamp_writer_integer(&writer, list->sent);
  write_text(&writer, ",\"tokens\":");
  tamp_writer_integer(&writer, list->tokens);
  write_text(&writer, ",\"bytes\":");
  tamp_writer_integer(&writer, list->size);
  write_text(&writer, ",\"turns\":");
  tamp_writer_integer(&writer, list->turns);
  write_groups(&writer, list, flags);
  write_text(&writer, ",\"problems\":[");
  Problems problems = {&writer, list, false};
  result_problems(&problems, list, atoms, unanswered);
  call_problems(&problems, list, atoms);
  id_problems(&problems, list, atoms, seen);
  if (list->first_user == TAMP_NONE && list->count > 0) {
    problem(&problems, "no-user-message", TAMP_NONE, "no message of a user", (TampText){0});
  }
  write_text(&writer, "]}");
  return tamp_writer_finish(&writer, json);
}
