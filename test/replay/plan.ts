// The preparation of a replay: drawn times, edges between changes, and the bounds that a run is
// compared with. Pure.

export interface Change {
  /** Names the change in every commit message of its agent. */
  readonly id: string;
  readonly commit: string;
  readonly title: string;
  /** Paths that it changes. */
  readonly files: readonly string[];
}

/** One task of a replay. Blockers come before it. */
export interface ReplayTask extends Change {
  readonly blockedBy: readonly string[];
  /** Time until the agent writes its change, and from then to its end. */
  readonly firstMs: number;
  readonly restMs: number;
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Numbers from 0 to 1 that depend only on the seed. */
export function drawsFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export type Edges = ReadonlyMap<string, readonly string[]>;

/** An edge to the last earlier change of each file. */
export function edgesByFiles(changes: readonly Change[]): Edges {
  const last = new Map<string, string>();
  const edges = new Map<string, readonly string[]>();
  for (const { id, files } of changes) {
    const before = files.flatMap((file) => last.get(file) ?? []);
    edges.set(id, [...new Set(before)]);
    for (const file of files) last.set(file, id);
  }
  return edges;
}

/** Whether a change can be made if exactly these earlier changes are present. */
export type Applies = (change: Change, present: readonly Change[]) => boolean;

/**
 * An edge to each earlier change without which a change cannot be made. Later ones are left out
 * first, each with the changes that need it, as long as the change can still be made.
 */
export function edgesByNeed(changes: readonly Change[], applies: Applies): Edges {
  const needs = new Map<string, ReadonlySet<string>>();
  const edges = new Map<string, readonly string[]>();
  for (const [at, change] of changes.entries()) {
    let present = startOf(change, changes.slice(0, at), needs, applies);
    for (const candidate of present.toReversed()) {
      if (!present.includes(candidate)) continue;
      const without = present.filter(
        ({ id }) => id !== candidate.id && needs.get(id)?.has(candidate.id) !== true,
      );
      if (applies(change, without)) present = without;
    }
    const all = new Set(present.map(({ id }) => id));
    needs.set(change.id, all);
    const implied = new Set(present.flatMap(({ id }) => [...(needs.get(id) ?? [])]));
    edges.set(
      change.id,
      [...all].filter((id) => !implied.has(id)),
    );
  }
  return edges;
}

/** Those that share a file with it, and what they need; all earlier ones if that is too little. */
function startOf(
  change: Change,
  earlier: readonly Change[],
  needs: ReadonlyMap<string, ReadonlySet<string>>,
  applies: Applies,
): readonly Change[] {
  const files = new Set(change.files);
  const near = new Set<string>();
  for (const { id, files: others } of earlier) {
    if (!others.some((file) => files.has(file))) continue;
    near.add(id);
    for (const needed of needs.get(id) ?? []) near.add(needed);
  }
  const start = earlier.filter(({ id }) => near.has(id));
  return applies(change, start) ? start : earlier;
}

/** The same changes with the same times, whatever the edges are. */
export function planTasks(
  changes: readonly Change[],
  edges: Edges,
  seed: number,
  agent: Span,
): readonly ReplayTask[] {
  const draw = drawsFrom(seed);
  return changes.map((change) => {
    const wholeMs = Math.round(agent.fromMs + draw() * (agent.toMs - agent.fromMs));
    // An agent reads first, and tests at the end.
    const firstMs = Math.round(wholeMs * (0.3 + 0.4 * draw()));
    const blockedBy = edges.get(change.id) ?? [];
    return { ...change, blockedBy, firstMs, restMs: wholeMs - firstMs };
  });
}

export function agentMs({ firstMs, restMs }: ReplayTask): number {
  return firstMs + restMs;
}

/** Tasks in sequence, each with its own gate. */
export function serialMs(tasks: readonly ReplayTask[], gateMs: number): number {
  return tasks.reduce((sum, task) => sum + agentMs(task) + gateMs, 0);
}

/** From the start of each task to the end of all tasks that wait for it, including gates. */
function tails(tasks: readonly ReplayTask[], gateMs: number): ReadonlyMap<string, number> {
  const behind = new Map<string, number>();
  const own = new Map<string, number>();
  for (const task of tasks.toReversed()) {
    const ms = agentMs(task) + gateMs + (behind.get(task.id) ?? 0);
    own.set(task.id, ms);
    for (const id of task.blockedBy) behind.set(id, Math.max(behind.get(id) ?? 0, ms));
  }
  return own;
}

/**
 * The critical path with so many agents: a schedule that knows all times, loses none, and gives
 * each task a gate at once. The task with the longest way to the end starts first.
 */
export function criticalMs(tasks: readonly ReplayTask[], gateMs: number, agents: number): number {
  const tail = tails(tasks, gateMs);
  const open = [...tasks].sort((a, b) => (tail.get(b.id) ?? 0) - (tail.get(a.id) ?? 0));
  const landedMs = new Map<string, number>();
  const freeMs = Array.from({ length: agents }, () => 0);
  let nowMs = 0;
  while (open.length > 0) {
    const at = open.findIndex(({ blockedBy }) =>
      blockedBy.every((id) => (landedMs.get(id) ?? Infinity) <= nowMs),
    );
    const agent = freeMs.findIndex((ms) => ms <= nowMs);
    const task = open[at];
    if (agent === -1 || task === undefined) {
      const later = [...freeMs, ...landedMs.values()].filter((ms) => ms > nowMs);
      if (later.length === 0) throw new Error('the tasks wait for each other');
      nowMs = Math.min(...later);
      continue;
    }
    open.splice(at, 1);
    freeMs[agent] = nowMs + agentMs(task);
    landedMs.set(task.id, nowMs + agentMs(task) + gateMs);
  }
  return Math.max(0, ...landedMs.values());
}
