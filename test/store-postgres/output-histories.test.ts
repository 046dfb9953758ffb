// Long random histories of a log, its writers and its readers: in the end all disks hold the same
// content.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { EventLog } from '../../server/agents/kit/log/event-log.ts';
import { filesOfLog } from '../../server/output/log-files.ts';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { testDatabases } from './databases.ts';
import {
  assertSameFiles,
  beginAttempt,
  closeMachines,
  fileOf,
  type Machine,
  openLog,
  openMachine,
  say,
  stored,
} from './output-machines.ts';
import { sized } from '../tier.ts';

const turns = 60;
const weights = { write: 50, store: 15, read: 20, spoil: 5, newReader: 5, newWriter: 5 };

suite("postgres: histories of agents' output", function () {
  this.timeout(120_000);
  teardown(async () => {
    assert.deepEqual(await closeMachines(), []);
  });

  for (const seed of sized([1, 2], [1, 2, 3, 4, 5, 6])) {
    test(`seed ${seed}`, async () => {
      const url = await (await testDatabases()).createWithTables();
      await new History(url, new SeededChance(seed)).live();
    });
  }
});

class History {
  readonly #url: string;
  readonly #chance: SeededChance;
  readonly #maxBytes: number;
  #lines = 0;

  constructor(url: string, chance: SeededChance) {
    this.#url = url;
    this.#chance = chance;
    // Some logs drop their middle again and again, others never.
    this.#maxBytes = chance.percent(50) ? 16 * 1024 : 1e7;
  }

  async live(): Promise<void> {
    let writer = await openMachine(this.#url, 'one');
    let reader = await openMachine(this.#url, 'two');
    await beginAttempt(writer.store, 'T', 'one');
    let log = await openLog(writer, 'T', this.#maxBytes);
    for (let turn = 0; turn < turns; turn += 1) {
      switch (this.#chance.weighted(weights)) {
        case 'write':
          await this.#write(log);
          break;
        case 'store':
          await stored(writer, 'T');
          break;
        case 'read':
          await this.#readSomewhere(reader);
          break;
        case 'spoil':
          this.#spoil(reader);
          break;
        case 'newReader':
          reader = await openMachine(this.#url, 'two', { logs: reader.logs });
          break;
        case 'newWriter':
          await log.close();
          await writer.close();
          if (this.#chance.percent(50)) this.#loseTheEnd(writer);
          writer = await openMachine(this.#url, 'one', { logs: writer.logs });
          log = await openLog(writer, 'T', this.#maxBytes);
          break;
      }
    }
    await say(log, 'end');
    await log.close();
    await stored(writer, 'T');
    assert.equal((await reader.texts('T')).at(-1), 'end');
    assert.deepEqual(await reader.texts('T'), await writer.texts('T'));
    assertSameFiles(writer, reader, 'T');
  }

  async #write(log: EventLog): Promise<void> {
    const count = this.#chance.between(1, 10);
    for (let line = 0; line < count; line += 1) {
      const length = Math.floor(this.#chance.next() ** 4 * 3_000);
      log.append({ type: 'text', text: `${(this.#lines += 1)} ${'ü'.repeat(length)}` });
    }
    await log.flush();
  }

  async #readSomewhere(reader: Machine): Promise<void> {
    const before = this.#chance.percent(30) ? { before: Number.MAX_SAFE_INTEGER } : {};
    await Promise.all([reader.read('T', before), reader.read('T', { limit: 5 })]);
  }

  /**
   * The reader's process ends with a power cut, so its copy has lost its end. The next process
   * notices that.
   */
  #spoil(reader: Machine): void {
    const path = join(reader.logs, fileOf('T'));
    if (existsSync(path)) truncateSync(path, this.#chance.between(0, readFileSync(path).length));
  }

  /** A power cut: the newest file has lost its end, and the marks can no longer be trusted. */
  #loseTheEnd(writer: Machine): void {
    const newest = filesOfLog(writer.logs, fileOf('T')).at(-1);
    if (newest === undefined || newest.size === 0) return;
    const lines = readFileSync(newest.path, 'utf8').split('\n');
    const kept = lines.slice(0, this.#chance.between(1, lines.length - 1)).join('\n');
    truncateSync(newest.path, Buffer.byteLength(kept) + 1);
    truncateSync(`${join(writer.logs, fileOf('T'))}.marks`, 0);
  }
}
