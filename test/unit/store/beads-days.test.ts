// Ten random days of edits in Drover and in Beads, as each version of bd writes its file; the real
// programs live the same days in test/e2e/beads-live.test.ts.

import { lostParts } from '../../../server/core/exchange/beads-base.ts';
import { sized, testSeed } from '../../tier.ts';
import { BeadsDays, type Issue, type TheirEdit, type Tracker } from './beads-days.ts';
import { BeadsSide } from './beads-side.ts';
import { memoryStore, testStartMs } from './memory-store.ts';

/** What `bd` does with its issues and its file. */
class FakeTracker implements Tracker {
  readonly #issues = new Map<string, Issue>();
  readonly #version: '0.49.6' | '1.0.3';
  #clock = 0;

  constructor(version: '0.49.6' | '1.0.3') {
    this.#version = version;
  }

  create(title: string): Promise<string> {
    const id = `bd-${this.#issues.size + 1}`;
    this.#set(id, { id, title, status: 'open', priority: 2, issue_type: 'task' });
    return Promise.resolve(id);
  }

  #set(id: string, issue: Issue): void {
    this.#clock += 1_000;
    const updated_at = new Date(testStartMs + this.#clock).toISOString();
    const { closed_at: at, close_reason: why, ...open } = issue;
    const isClosed = issue['status'] === 'closed';
    const end = { closed_at: at ?? updated_at, close_reason: why ?? 'Closed' };
    this.#issues.set(id, { ...open, ...(isClosed && end), updated_at });
  }

  edit(id: string, edit: TheirEdit): Promise<void> {
    const issue = this.#issues.get(id);
    if (issue === undefined) return Promise.resolve();
    const labels = (issue['labels'] ?? []) as readonly string[];
    const edges = (issue['dependencies'] ?? []) as readonly Issue[];
    const { status } = issue;
    const change = (fields: Issue): void => this.#set(id, { ...issue, ...fields });
    switch (edit.what) {
      case 'title':
      case 'description':
      case 'priority':
        change({ [edit.what]: edit.value });
        break;
      case 'add-label':
        if (!labels.includes(edit.value)) change({ labels: [...labels, edit.value].toSorted() });
        break;
      case 'remove-label':
        change({ labels: labels.filter((one) => one !== edit.value) });
        break;
      case 'add-edge':
        if (edges.every((edge) => edge['depends_on_id'] !== edit.value)) {
          const edge = { issue_id: id, depends_on_id: edit.value, type: 'blocks' };
          change({ dependencies: [...edges, edge] });
        }
        break;
      case 'remove-edge':
        change({ dependencies: edges.filter((edge) => edge['depends_on_id'] !== edit.value) });
        break;
      case 'close':
        if (status !== 'closed') change({ status: 'closed', close_reason: edit.value });
        break;
      case 'reopen':
        if (status === 'closed') change({ status: 'open' });
        break;
      case 'defer':
        if (status !== 'closed') change({ status: 'deferred' });
        break;
      case 'undefer':
        if (status === 'deferred') change({ status: 'open' });
        break;
    }
    return Promise.resolve();
  }

  /** Empty texts and lists have no key; the newer version counts edges. */
  flush(): Promise<string> {
    return Promise.resolve([...this.#issues.values()].map((issue) => this.#line(issue)).join(''));
  }

  #line(issue: Issue): string {
    const kept = Object.entries(issue).filter(
      ([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0),
    );
    const counts = { dependency_count: 0, dependent_count: 0, comment_count: 0 };
    const more = this.#version === '1.0.3' ? counts : {};
    return `${JSON.stringify({ ...Object.fromEntries(kept), ...more })}\n`;
  }

  /**
   * Each line that differs is taken over, with the time of the import. Labels and edges are only
   * added; commands remove the others.
   */
  async take(text: string): Promise<void> {
    const lost = lostParts(await this.flush(), text);
    for (const line of text.split('\n').filter(Boolean)) {
      const issue = JSON.parse(line) as Issue;
      const before = this.#issues.get(String(issue['id']));
      if (before !== undefined && this.#line(before) === `${line}\n`) continue;
      const read = <T>(key: string): readonly T[] =>
        [issue, before].flatMap((one) => (one?.[key] ?? []) as readonly T[]);
      const labels = [...new Set(read<string>('labels'))].toSorted();
      const edges = read<Issue>('dependencies');
      const byTarget = new Map(edges.map((edge) => [edge['depends_on_id'], edge]));
      this.#set(String(issue['id']), { ...issue, labels, dependencies: [...byTarget.values()] });
    }
    for (const { id, kind, value } of lost) await this.edit(id, { what: `remove-${kind}`, value });
  }
}

suite('ten days of edits on both sides of Beads', () => {
  for (const version of ['0.49.6', '1.0.3'] as const) {
    test(`both sides are equal at the end, with the file format of bd ${version}`, async () => {
      for (let seed = testSeed; seed < testSeed + sized(3, 10); seed += 1) {
        const project = await memoryStore();
        try {
          const side = new BeadsSide(project);
          const options = { seed, days: 10, editsMax: 6 };
          await new BeadsDays(project, side, new FakeTracker(version), options).live();
        } finally {
          await project.close();
        }
      }
    }).timeout(60_000);
  }
});
