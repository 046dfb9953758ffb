// A Beads file beside a plan, for tests: synced as `drover sync beads` does it, but in this
// process.

import assert from 'node:assert/strict';
import { withOldLines } from '../../../server/core/exchange/beads-base.ts';
import type { ImportResultView } from '../../../server/protocol/api.ts';
import { exportPlan } from '../../../server/store/exchange/exports.ts';
import { importFile } from '../../../server/store/exchange/imports.ts';
import { testStartMs, type TestStore } from './memory-store.ts';

export const at = (ms: number): string => new Date(testStartMs + ms).toISOString();

export const issue = (id: string, more: object = {}): string =>
  JSON.stringify({ id, title: id, status: 'open', priority: 2, issue_type: 'task', ...more });

export class BeadsSide {
  readonly #project: TestStore;
  text = '';
  #base = '';

  constructor(project: TestStore) {
    this.#project = project;
  }

  set(...lines: readonly string[]): void {
    this.text = lines.map((line) => `${line}\n`).join('');
  }

  findLine(id: string): Record<string, unknown> | null {
    const lines = this.text.split('\n').filter((line) => line !== '');
    const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    return records.find((one) => one['id'] === id) ?? null;
  }

  line(id: string): Record<string, unknown> {
    return this.findLine(id) ?? assert.fail(`no line ${id}`);
  }

  /** Other fields in the line of an issue; undefined removes a field. */
  change(id: string, change: object): void {
    const lines = this.text.split('\n').filter((line) => line !== '');
    const before = this.line(id);
    this.set(
      ...lines.map((line) =>
        (JSON.parse(line) as { id: string }).id === id
          ? JSON.stringify({ ...before, ...change })
          : line,
      ),
    );
  }

  /** An import without a sync. */
  take(update: boolean): Promise<ImportResultView> {
    return this.#import({ update });
  }

  async sync(): Promise<ImportResultView> {
    const result = await this.#import({ update: true, base: this.#base });
    assert.deepEqual(result.errors, []);
    const later = result.later ?? [];
    const written = await exportPlan(this.#project.store.db, {
      format: 'beads',
      present: this.text,
      sync: { leave: later },
      nowMs: 0,
      repository: '/repo',
    });
    this.text = written.text;
    this.#base = withOldLines(this.text, this.#base, new Set(later));
    return result;
  }

  #import(more: { readonly update: boolean; readonly base?: string }): Promise<ImportResultView> {
    return importFile(this.#project.store, {
      text: this.text,
      badUtf8Lines: [],
      file: '/repo/.beads/issues.jsonl',
      format: 'beads',
      dryRun: false,
      rename: false,
      skipInvalid: false,
      maxAttempts: 3,
      ...more,
    });
  }
}
