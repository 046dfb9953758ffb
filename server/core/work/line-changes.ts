// Compares two versions of a text line by line, using Myers' greedy algorithm with a limit.

/**
 * Lines `from` up to `to` (exclusive) of the old text became lines `newFrom` up to `newTo` of the
 * new text.
 */
export interface LineChange {
  readonly from: number;
  readonly to: number;
  readonly newFrom: number;
  readonly newTo: number;
}

/** With more edits, everything between the first and the last edit is reported as one change. */
const editsMax = 1_000;

export function splitLines(text: string): readonly string[] {
  return text === '' ? [] : text.replaceAll('\r\n', '\n').replace(/\n$/u, '').split('\n');
}

/** Returns changes in order. At least one common line separates two changes. */
export function lineChanges(old: readonly string[], now: readonly string[]): LineChange[] {
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  const most = Math.min(old.length, now.length) - head;
  while (tail < most && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  const changed = old.slice(head, old.length - tail);
  const replaced = now.slice(head, now.length - tail);
  return changesBetween(changed, replaced).map(({ from, to, newFrom, newTo }) => ({
    from: from + head,
    to: to + head,
    newFrom: newFrom + head,
    newTo: newTo + head,
  }));
}

function changesBetween(old: readonly string[], now: readonly string[]): LineChange[] {
  if (old.length === 0 && now.length === 0) return [];
  const whole = { from: 0, to: old.length, newFrom: 0, newTo: now.length };
  if (old.length === 0 || now.length === 0) return [whole];
  const steps = furthestSteps(old, now);
  return steps === null ? [whole] : changesAlong(steps, old.length, now.length);
}

/**
 * How far each diagonal reaches for each number of edits. Returns null if the limit is exceeded.
 */
function furthestSteps(
  old: readonly string[],
  now: readonly string[],
): readonly ReadonlyMap<number, number>[] | null {
  const steps: ReadonlyMap<number, number>[] = [];
  let before: ReadonlyMap<number, number> = new Map([[1, 0]]);
  for (let edits = 0; edits <= Math.min(editsMax, old.length + now.length); edits += 1) {
    const reached = new Map<number, number>();
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = startOn(before, diagonal, edits);
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x += 1;
      reached.set(diagonal, x);
      if (x >= old.length && x - diagonal >= now.length) return [...steps, reached];
    }
    steps.push(reached);
    before = reached;
  }
  return null;
}

function startOn(before: ReadonlyMap<number, number>, diagonal: number, edits: number): number {
  const above = before.get(diagonal + 1) ?? -1;
  const left = before.get(diagonal - 1) ?? -1;
  const isInsertion = diagonal === -edits || (diagonal !== edits && left < above);
  return isInsertion ? above : left + 1;
}

/** Walks back from the ends of both texts and joins edits that no common line separates. */
function changesAlong(
  steps: readonly ReadonlyMap<number, number>[],
  oldLength: number,
  newLength: number,
): LineChange[] {
  const changes: LineChange[] = [];
  let x = oldLength;
  let y = newLength;
  for (let edits = steps.length - 1; edits > 0; edits -= 1) {
    const before = steps[edits - 1] ?? new Map<number, number>();
    const diagonal = x - y;
    const start = startOn(before, diagonal, edits);
    const isInsertion = start === (before.get(diagonal + 1) ?? -1) && diagonal !== edits;
    const from = isInsertion ? start : start - 1;
    const newFrom = isInsertion ? start - diagonal - 1 : start - diagonal;
    const edit = { from, to: start, newFrom, newTo: start - diagonal };
    const next = changes[0];
    if (next !== undefined && next.from === edit.to && next.newFrom === edit.newTo)
      changes[0] = { ...next, from, newFrom };
    else changes.unshift(edit);
    x = from;
    y = newFrom;
  }
  return changes;
}
