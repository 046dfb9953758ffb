// How the page gets into a browser: the browser of the system, a person's own hands, or another program.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from '../e2e/support/eventually.ts';
import { droverProgram } from '../e2e/support/program.ts';
import type { Project } from '../e2e/support/project.ts';
import { useProjects } from '../e2e/support/suite-projects.ts';

suite('the links of drover web', function () {
  this.timeout(60_000);
  const project = useProjects();

  async function enter(url: string): Promise<number> {
    const { origin, hash } = new URL(url);
    const { status } = await fetch(`${origin}/enter`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: origin },
      body: JSON.stringify({ token: hash.slice('#token='.length) }),
    });
    return status;
  }

  /** A project in whose PATH `xdg-open` is this script. */
  async function withOpener(script: string): Promise<{ here: Project; env: { PATH: string } }> {
    const here = project();
    await here.expect(0, ['init', '--yes']);
    const bin = join(here.folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, 'xdg-open'), 0o755);
    return { here, env: { PATH: `${bin}:${here.env['PATH']}` } };
  }

  test("--open passes the link to the system's browser, and prints none", async () => {
    const { here, env } = await withOpener('printf "%s\\n" "$1" > "$HOME/opened"');
    const opened = join(here.folder, 'home', 'opened');
    const web = here.start(['web', '--open'], { env });
    const line = await web.line((text) => text.startsWith('Drover is at'));
    assert.doesNotMatch(line, /token/u);
    const url = await eventually(
      'the link',
      () => existsSync(opened) && readFileSync(opened, 'utf8').trim(),
    );
    assert.equal(await enter(String(url)), 200);
    web.signal('SIGINT');
    assert.equal((await web.ended).code, 0);
  });

  test('without a browser, --open prints the link', async () => {
    const { here, env } = await withOpener('exit 3');
    const web = here.start(['web', '--open'], { env });
    const line = await web.line((text) => text.startsWith('Drover is at'));
    assert.equal(await enter(line.slice('Drover is at '.length)), 200);
    web.signal('SIGINT');
    const { stderr } = await web.ended;
    assert.match(stderr, /No browser could be opened\. Open the link yourself\./u);
  });

  test('another program requests links by lines, and the page ends with that program', async () => {
    const here = project();
    await here.expect(0, ['init', '--yes']);
    const web = spawn(
      process.execPath,
      ['--no-warnings', droverProgram(), 'web', '--json', '--links'],
      {
        cwd: here.root,
        env: here.env,
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    );
    const lines = createInterface({ input: web.stdout })[Symbol.asyncIterator]();
    for (const request of ['', '\n', '\n']) {
      web.stdin.write(request);
      const { value } = await lines.next();
      const { url } = JSON.parse(String(value)) as { url: string };
      assert.equal(await enter(url), 200);
      assert.equal(await enter(url), 403);
    }
    web.stdin.end();
    assert.equal(await new Promise((resolve) => web.once('exit', resolve)), 0);
  });
});
