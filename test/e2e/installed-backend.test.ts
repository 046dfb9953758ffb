// The backend as a user service. A double of systemctl replaces the service manager of a login,
// which test machines lack; the test itself starts the program that the unit names.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './support/eventually.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';

interface Installed {
  readonly service: string;
  readonly file: string;
  readonly started: boolean;
  readonly lingers: boolean;
}

const idleSoon = '[backend]\nidle_timeout = "1s"\n';

suite('the user service', function () {
  this.timeout(60_000);
  const project = useProjects({ isEachProcess: true });

  /** A project with a systemctl that records its calls and exits with this code. */
  async function begin(
    code: number,
  ): Promise<{ here: Project; env: { PATH: string }; calls: string }> {
    const here = project({ settings: idleSoon });
    await here.expect(0, ['init', '--yes']);
    const bin = join(here.folder, 'bin');
    mkdirSync(bin);
    const calls = join(here.folder, 'calls');
    writeFileSync(
      join(bin, 'systemctl'),
      `#!/bin/sh\necho "$*" >> '${calls}'\necho 'Failed to connect to bus' >&2\nexit ${code}\n`,
    );
    chmodSync(join(bin, 'systemctl'), 0o755);
    return { here, env: { PATH: `${bin}:${here.env['PATH']}` }, calls };
  }

  test('it is installed, starts a backend that stays when idle, and is removed', async () => {
    const { here, env, calls } = await begin(0);
    const { service, file, started } = await here.json<Installed>(['server', 'install'], { env });
    assert.ok(started);
    assert.match(service, /^drover-[0-9a-f]{12}\.service$/u);
    assert.equal(file, join(here.folder, 'home/.config/systemd/user', service));
    const heard = readFileSync(calls, 'utf8');
    assert.equal(heard, `--user daemon-reload\n--user enable --now ${service}\n`);

    const unit = readFileSync(file, 'utf8');
    const [, line = ''] = /^ExecStart=(.*)$/mu.exec(unit) ?? [];
    const [program = '', ...args] = JSON.parse(`[${line.replaceAll('" "', '","')}]`) as string[];
    const [, path = ''] = /^Environment="PATH=(.*)"$/mu.exec(unit) ?? [];
    const { HOME = '', TMPDIR = '' } = here.env;
    const backend = spawn(program, args, {
      cwd: '/',
      env: { HOME, TMPDIR, PATH: path },
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => backend.once('exit', resolve));
    await eventually('the backend runs', () => here.backendPid() === backend.pid);
    const status = await here.json(['server', 'status'], { env });
    assert.partialDeepStrictEqual(status, { backend: true, installed: true, running: true });
    // Another backend exits during that time, because it is idle.
    const other = project({ settings: idleSoon });
    await other.expect(0, ['init', '--yes']);
    await other.expect(0, ['run']);
    await eventually('the other backend has ended', () => other.backendPid() === null);
    assert.equal(here.backendPid(), backend.pid);
    backend.kill('SIGTERM');
    assert.equal(await ended, 0);

    await here.expect(0, ['server', 'uninstall'], { env });
    assert.equal(existsSync(file), false);
    assert.match(
      readFileSync(calls, 'utf8'),
      new RegExp(`--user disable --now ${service}\n$`, 'u'),
    );
    assert.match(
      await here.expect(0, ['server', 'uninstall'], { env }),
      /No service .* is installed/u,
    );
  });

  test('without a service manager, the start command and the requirements of lingering are printed', async () => {
    const { here, env } = await begin(1);
    const { code, stdout } = await here.drover(['server', 'install'], { env });
    assert.equal(code, 1);
    assert.match(
      stdout,
      /could not be started: Failed to connect to bus\. Start it yourself: systemctl --user daemon-reload && systemctl --user enable --now drover-/u,
    );
    assert.match(
      stdout,
      /stops when your last session ends\. To keep it running, run: loginctl enable-linger/u,
    );
    const status = await here.expect(0, ['server', 'status'], { env });
    assert.match(status, /No backend is running\.\nThe service .* does not run\./u);
  });
});
