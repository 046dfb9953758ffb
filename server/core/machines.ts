// Which machines of a fleet can do a task: its labels `needs:<label>` name what a machine must offer.

const needsPrefix = 'needs:';

/** What a task asks of a machine, each once, in the order of its labels. */
export function neededLabels(labels: readonly string[]): readonly string[] {
  const needed = new Set<string>();
  for (const label of labels) {
    if (!label.startsWith(needsPrefix)) continue;
    const wanted = label.slice(needsPrefix.length).trim();
    if (wanted !== '') needed.add(wanted);
  }
  return [...needed];
}

/** Exactly as written: `os=linux` is not `OS=Linux`. */
export function suits(machineLabels: readonly string[], needed: readonly string[]): boolean {
  return needed.every((label) => machineLabels.includes(label));
}

export interface KnownMachine {
  readonly name: string;
  readonly labels: readonly string[];
}

const namedMax = 5;

/** Why no machine takes a task, as a sentence; null when one suits. Only those that are alive count. */
export function noMachineSuits(
  labels: readonly string[],
  alive: readonly KnownMachine[],
): string | null {
  const needed = neededLabels(labels);
  if (needed.length === 0 || alive.some((machine) => suits(machine.labels, needed))) return null;
  const offered = new Set(alive.flatMap((machine) => machine.labels));
  const missing = needed.filter((label) => !offered.has(label));
  const words = needed.map((label) => `\`${label}\``).join(' and ');
  const what =
    missing.length > 0
      ? `It needs a machine with ${words}, and none has ${listOf(missing)}`
      : `It needs one machine with ${words}, and none has all of them`;
  const remedy = 'start `drover worker --label …` on one, or take the label `needs:…` off the task';
  return `${what}: ${thereAre(alive)}; ${remedy}.`;
}

function listOf(labels: readonly string[]): string {
  return labels.map((label) => `\`${label}\``).join(' or ');
}

function thereAre(alive: readonly KnownMachine[]): string {
  if (alive.length === 0) return 'no machine is at work';
  const named = alive.slice(0, namedMax).map(({ name, labels }) => {
    return labels.length === 0 ? `${name} (no labels)` : `${name} (${labels.join(', ')})`;
  });
  const more = alive.length - named.length;
  return `there ${alive.length === 1 ? 'is' : 'are'} ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
