// Called by VS Code in its extension host: runs the mocha files of one suite, or of several in
// turn, and records the result. Resolved: exit code 0, rejected: exit code 1.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'node:util';
import Mocha from 'mocha';

const timeoutMs = 90_000;

export async function run(): Promise<void> {
  const results = process.env['VSCODE_TEST_RESULTS'];
  const suite = process.env['DROVER_TEST_SUITE'] ?? 'project';
  // Marks mocha's own lines among everything else that the window logs.
  if (results !== undefined) {
    Mocha.reporters.Base.consoleLog = (...words: unknown[]) => {
      console.log(`[test]${format(...words)}`);
    };
  }
  const mocha = new Mocha({ ui: 'tdd', color: false, timeout: timeoutMs, reporter: 'spec' });
  for (const name of suite.split('+')) mocha.addFile(join(__dirname, `${name}.test.js`));
  const rows: { ok: boolean; title: string; error?: string }[] = [];
  const failed = await new Promise<number>((resolve) => {
    mocha
      .run(resolve)
      .on('pass', (test) => rows.push({ ok: true, title: test.fullTitle() }))
      .on('fail', (test, error: Error) => {
        rows.push({ ok: false, title: test.fullTitle(), error: error.stack ?? error.message });
      });
  });
  const passed = rows.filter(({ ok }) => ok).length;
  if (results !== undefined) {
    writeFileSync(results, JSON.stringify({ passed, failed, rows }, null, 1));
  }
  if (failed > 0 || passed === 0) throw new Error(`${failed} failed, ${passed} passed`);
}
