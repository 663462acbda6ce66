// The parts of a session's page, each with the messages after which it must be fetched again.

const ENDED = ["turn.committed", "turn.failed", "turn.cancelled", "turn.interrupted"];

export const PARTS = {
  title: ["session.renamed", "session.expired", "turn.committed", "turn.failed"],
  composer: ["session.expired", "role.changed"],
  messages: ["messages.changed", "turn.started", ...ENDED, "turn.rated", "command.recorded"],
  turns: ["turn.started", ...ENDED, "turn.rated", "command.recorded"],
  knowledge: [
    "turn.committed", "turn.failed", "units.pending", "units.promoted", "units.discarded", "units.evicted",
    "units.changed", "context.loaded", "draft.changed", "kb.mounted", "kb.revised", "kb.saved", "kb.forked",
    "command.recorded", "role.changed", "session.expired",
  ],
  settings: [
    "turn.committed", "preferences.changed", "agent.changed", "persona.changed", "snapshot.reloaded", "memory.updated",
    "memory.cleared", "model-config.changed", "command.recorded", "role.changed", "session.expired",
  ],
  skills: ["snapshot.reloaded", "agent.changed", "persona.changed", "preferences.changed"],
  completion: ["snapshot.reloaded", "persona.changed"],
  turn: ["turn.started", ...ENDED, "session.renamed"],
  progress: ["turn.progressed", ...ENDED],
  pending: ["units.pending", ...ENDED],
  end: ENDED,
  draft: ["turn.drafted"],
  saving: [
    "draft.changed", "units.promoted", "units.evicted", "units.changed", "context.loaded", "kb.mounted", "kb.revised",
  ],
};

/** Return the names of a message's DOM events: its kind, and each part with and without the turn. */
export function eventNames({ kind, payload }) {
  const parts = Object.keys(PARTS).filter((part) => PARTS[part].includes(kind));
  const ofTurn = payload?.request_id ? parts.map((part) => `${part}:${payload.request_id}`) : [];
  return ["event", kind, ...parts, ...ofTurn].map((name) => `live:${name}`);
}
