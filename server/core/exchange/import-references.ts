// Checks the references between the records of an import: unknown names, too many levels, loops. If
// a record is refused, all records that refer to it are refused too.

import {
  ruleEdges,
  topLevelEdges,
  topLevelNumbers,
  type EdgeList,
  type GraphNode,
} from '../plan/graph-edges.ts';
import { cycleText, loopGroups, shortestPath } from '../plan/graph.ts';
import type { RecordFault, RecordFields } from './import-record.ts';
import { shown } from './shown-values.ts';
import type { ExistingProject } from './import-types.ts';

/** Levels below a task: its sub-tasks and their sub-tasks. */
export const maxSubTaskLevels = 2;

/**
 * Limits the search for the paths of loops. Loops found after it are reported without their path.
 */
const maxNodesSearched = 400_000;

/** A sub-task with more ancestors than this is reported as too deep. */
const maxSteps = 100;

export interface ReadRecord {
  readonly line: number;
  readonly fields: RecordFields;
}

export interface ReferenceInput {
  /** Records that are valid by themselves, in line order. */
  readonly records: readonly ReadRecord[];
  /** Ids of records that are already refused, with their lines. */
  readonly refusedLines: ReadonlyMap<string, number>;
  readonly existing: ExistingProject;
}

interface Reference {
  readonly key: 'epic_id' | 'story_id' | 'parent_id' | 'blocked_by';
  readonly id: string;
}

export function parentReference(fields: RecordFields): string | null {
  return fields.parentId ?? fields.storyId;
}

function referencesOf({ epicId, storyId, parentId, blockedBy }: RecordFields): Reference[] {
  const references: Reference[] = [];
  if (epicId !== null) references.push({ key: 'epic_id', id: epicId });
  if (storyId !== null) references.push({ key: 'story_id', id: storyId });
  if (parentId !== null) references.push({ key: 'parent_id', id: parentId });
  for (const id of blockedBy) references.push({ key: 'blocked_by', id });
  return references;
}

/** Returns the fault of each record that is refused because of other records, by line. */
export function checkReferences(input: ReferenceInput): Map<number, RecordFault> {
  const check = new ReferenceCheck(input);
  check.refuse(check.namesThatLeadNowhere());
  check.refuse(check.parentLoops());
  check.refuse(check.deepRecords());
  check.refuse(check.loops('rule'));
  check.refuse(check.loops('top'));
  return check.faults;
}

class ReferenceCheck {
  readonly faults = new Map<number, RecordFault>();
  readonly #input: ReferenceInput;
  readonly #byId = new Map<string, ReadRecord>();
  readonly #referrers = new Map<string, ReadRecord[]>();
  readonly #refused = new Map<string, number>();
  readonly #refusedBefore: readonly string[];

  constructor(input: ReferenceInput) {
    this.#input = input;
    for (const record of input.records) {
      this.#byId.set(record.fields.id, record);
      for (const { id } of referencesOf(record.fields)) {
        const list = this.#referrers.get(id);
        if (list === undefined) this.#referrers.set(id, [record]);
        else list.push(record);
      }
    }
    const before: string[] = [];
    for (const [id, line] of input.refusedLines) {
      // If a valid line has the same id, the reference means that record.
      if (this.#byId.has(id) || this.#isExisting(id)) continue;
      this.#refused.set(id, line);
      before.push(id);
    }
    this.#refusedBefore = before;
  }

  #isExisting(id: string): boolean {
    return this.#input.existing.tasks.has(id) || this.#input.existing.epics.has(id);
  }

  *#open(): Generator<ReadRecord> {
    for (const record of this.#input.records) {
      if (!this.faults.has(record.line)) yield record;
    }
  }

  /** Records the faults, and refuses every record that refers to a refused one. */
  refuse(found: ReadonlyMap<ReadRecord, RecordFault>): void {
    const spreading = this.faults.size === 0 ? [...this.#refusedBefore] : [];
    for (const [record, fault] of found) {
      this.faults.set(record.line, fault);
      this.#refused.set(record.fields.id, record.line);
      spreading.push(record.fields.id);
    }
    for (let head = 0; head < spreading.length; head++) {
      const id = spreading[head] ?? '';
      for (const record of this.#referrers.get(id) ?? []) {
        if (this.faults.has(record.line)) continue;
        const line = this.#refused.get(id) ?? 0;
        this.faults.set(record.line, {
          kind: 'reference-refused',
          message: `${shown(id)} was refused on line ${line}`,
        });
        this.#refused.set(record.fields.id, record.line);
        spreading.push(record.fields.id);
      }
    }
  }

  namesThatLeadNowhere(): Map<ReadRecord, RecordFault> {
    const found = new Map<ReadRecord, RecordFault>();
    for (const record of this.#open()) {
      let wrongKind: RecordFault | null = null;
      for (const reference of referencesOf(record.fields)) {
        const kind = this.#kindOf(reference.id);
        if (kind === null) {
          found.set(record, { kind: 'reference', message: this.#nowhere(reference) });
          break;
        }
        const needed = reference.key === 'epic_id' ? 'epic' : 'task';
        if (kind === needed || kind === 'refused') continue;
        wrongKind ??= {
          kind: 'reference-kind',
          message:
            needed === 'task'
              ? `${shown(reference.id)} in \`${reference.key}\` is an epic; name a story or task`
              : `${shown(reference.id)} in \`epic_id\` is a task; name an epic`,
        };
      }
      if (wrongKind !== null && !found.has(record)) found.set(record, wrongKind);
    }
    return found;
  }

  #nowhere({ key, id }: Reference): string {
    const name = shown(id);
    const where = 'in the file or in the project';
    switch (key) {
      case 'epic_id':
        return `epic ${name} does not exist ${where}`;
      case 'story_id':
        return `story ${name} does not exist ${where}`;
      case 'parent_id':
        return `task ${name} of \`parent_id\` does not exist ${where}`;
      case 'blocked_by':
        return `task ${name} of \`blocked_by\` does not exist ${where}`;
    }
  }

  #kindOf(id: string): 'epic' | 'task' | 'refused' | null {
    const record = this.#byId.get(id);
    if (record !== undefined) return record.fields.kind === 'epic' ? 'epic' : 'task';
    if (this.#input.existing.epics.has(id)) return 'epic';
    if (this.#input.existing.tasks.has(id)) return 'task';
    return this.#refused.has(id) ? 'refused' : null;
  }

  #parentOfId(id: string): string | null {
    const record = this.#byId.get(id);
    if (record !== undefined) return parentReference(record.fields);
    return this.#input.existing.tasks.get(id)?.parentId ?? null;
  }

  parentLoops(): Map<ReadRecord, RecordFault> {
    const found = new Map<ReadRecord, RecordFault>();
    for (const record of this.#open()) {
      const { id } = record.fields;
      const path = [id];
      const seen = new Set(path);
      for (let at = this.#parentOfId(id); at !== null; at = this.#parentOfId(at)) {
        path.push(at);
        if (at === id) {
          const text = cycleText(path.toReversed());
          found.set(record, { kind: 'loop', message: `${text} (a task is below itself)` });
          break;
        }
        if (seen.has(at) || path.length > maxSteps) break;
        seen.add(at);
      }
    }
    return found;
  }

  deepRecords(): Map<ReadRecord, RecordFault> {
    const found = new Map<ReadRecord, RecordFault>();
    for (const record of this.#open()) {
      let level = 0;
      let at = parentReference(record.fields);
      while (at !== null && level <= maxSteps) {
        level += 1;
        at = this.#parentOfId(at);
      }
      if (level <= maxSubTaskLevels) continue;
      const ordinal = level === 3 ? 'third level' : `level ${level}`;
      found.set(record, {
        kind: 'depth',
        message: `${ordinal} below a task; two are allowed`,
      });
    }
    return found;
  }

  /**
   * All tasks as they would be after the import: the project's tasks, with open records added or
   * replacing them.
   */
  #nodes(): readonly GraphNode[] {
    const nodes = new Map<string, GraphNode>();
    for (const task of this.#input.existing.tasks.values()) nodes.set(task.id, task);
    for (const record of this.#open()) {
      const { id, kind, blockedBy } = record.fields;
      if (kind === 'epic') continue;
      const parentId = parentReference(record.fields);
      const before = nodes.get(id);
      // Records come after existing tasks in file order, so a line number is enough to order
      // siblings.
      const sequence =
        before !== undefined && before.parentId === parentId
          ? before.sequence
          : 1_000_000 + record.line;
      nodes.set(id, { id, blockedBy, parentId, sequence });
    }
    return [...nodes.values()];
  }

  loops(level: 'rule' | 'top'): Map<ReadRecord, RecordFault> {
    const nodes = this.#nodes();
    const edges = level === 'rule' ? ruleEdges(nodes) : topLevelEdges(nodes);
    const groups = loopGroups(edges);
    const tops = level === 'top' ? topLevelNumbers(nodes, edges.numbers) : null;
    const numberOf = (id: string): number => {
      const number = edges.numbers.get(id) ?? -1;
      return tops === null ? number : (tops[number] ?? number);
    };
    const groupSizes = new Map<number, number>();
    for (const group of groups) groupSizes.set(group, (groupSizes.get(group) ?? 0) + 1);
    let searched = 0;
    const found = new Map<ReadRecord, RecordFault>();
    for (const record of this.#open()) {
      const from = numberOf(record.fields.id);
      const blocker = record.fields.blockedBy.find((id) => {
        const to = numberOf(id);
        if (to === -1 || from === -1) return false;
        return from === to ? level === 'rule' : groups[from] === groups[to];
      });
      if (blocker === undefined) continue;
      const names: [string, string] = [edges.ids[from] ?? '', edges.ids[numberOf(blocker)] ?? ''];
      const message = loopText(edges, names, searched < maxNodesSearched);
      searched += groupSizes.get(groups[from] ?? -1) ?? 1;
      const why = level === 'top' ? ' (a task runs as a whole, with its sub-tasks)' : '';
      found.set(record, { kind: 'loop', message: message + why });
    }
    return found;
  }
}

function loopText(edges: EdgeList, [from, to]: [string, string], named: boolean): string {
  const path = from === to ? [to] : named ? shortestPath(edges, to, from) : null;
  if (path === null) return `${from} → ${to} → … → ${from}`;
  return cycleText([from, ...path]);
}
