// The npm package as a user gets it: packed, installed without a checkout, and used on a Node that
// is too old for Drover itself.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { machinesNpm, npmEnvironment } from '../install-once.mjs';
import { removeFolder } from '../remove-folder.ts';

const root = join(import.meta.dirname, '../..');
const papers = ['README.md', 'CHANGELOG.md'];
const bytesMax = 5 * 1024 * 1024;

suite('the npm package', function () {
  this.timeout(300_000);
  const folder = mkdtempSync(join(tmpdir(), 'drover-install-'));
  const checkout = join(folder, 'checkout');
  const prefix = join(folder, 'prefix');
  const repository = join(folder, 'repo');
  const { node, npm } = machinesNpm();
  const env = { ...npmEnvironment(node), npm_config_update_notifier: 'false' };
  const users: Record<string, string> = {
    HOME: folder,
    PATH: [join(prefix, 'bin'), dirname(node), '/usr/bin', '/bin'].join(':'),
    DROVER_AGENT_TYPE: 'demo',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  let packed = '';

  const run = (program: string, args: readonly string[]): string =>
    execFileSync(program, args, { cwd: repository, env: users, encoding: 'utf8', stdio: 'pipe' });
  const drover = (...args: readonly string[]): string => run('drover', args);

  suiteSetup(() => {
    execFileSync(process.execPath, [join(root, 'build/command.mjs')], { stdio: 'pipe' });
    // A separate checkout, because other tests use the manifest, and `dist`, which `prepare` would
    // build.
    for (const name of ['bin', 'lib', 'build', 'package.json', 'LICENSE', ...papers]) {
      cpSync(join(root, name), join(checkout, name), { recursive: true });
    }
    const manifest = (step: string): Buffer =>
      execFileSync(node, [join(checkout, 'build/manifest.mjs'), step], { stdio: 'pipe' });
    manifest('strip');
    const pack = [npm, 'pack', '--ignore-scripts', `--pack-destination=${folder}`];
    execFileSync(node, pack, { cwd: checkout, env, stdio: 'pipe' });
    manifest('restore');
    packed = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '');
    const options = ['--prefix', prefix, '--prefer-offline', '--no-audit', '--no-fund'];
    execFileSync(node, [npm, 'install', '--global', ...options, packed], { env, stdio: 'pipe' });
    mkdirSync(repository);
    run('git', ['init', '-q', '-b', 'main']);
    run('git', ['config', 'user.name', 'A user']);
    run('git', ['config', 'user.email', 'user@example.com']);
    run('git', ['commit', '-q', '--allow-empty', '-m', 'start']);
  });
  suiteTeardown(() => {
    drover('server', 'stop');
    removeFolder(folder);
  });

  test('it is small, and contains no sources and no tests', () => {
    assert.ok(statSync(packed).size < bytesMax, `${statSync(packed).size} bytes`);
    const files = execFileSync('tar', ['tzf', packed], { encoding: 'utf8' }).trim().split('\n');
    const others = files.filter(
      (file) =>
        !/^package\/lib\/([\w-]+\.(cjs|js|json|txt)|sbom\.cdx\.json)$/u.test(file) &&
        // Panels in a browser.
        !/^package\/lib\/webview\/[\w-]+\.(js|css|ttf|svg)$/u.test(file),
    );
    assert.deepEqual(others.toSorted(), [
      'package/CHANGELOG.md',
      'package/LICENSE',
      'package/README.md',
      'package/bin/drover.mjs',
      'package/bin/node24.mjs',
      'package/bin/system.mjs',
      'package/package.json',
    ]);
  });

  test('it contains its own Node and no other package, and can be published with provenance', () => {
    const modules = join(prefix, 'lib/node_modules/drover/node_modules');
    const installed = readdirSync(modules).filter((name) => !name.startsWith('.'));
    assert.deepEqual(installed, [`node-${process.platform}-${process.arch}`]);
    const text = readFileSync(join(prefix, 'lib/node_modules/drover/package.json'), 'utf8');
    const { repository: home, publishConfig, dependencies, scripts, ...rest } = JSON.parse(text);
    assert.deepEqual([dependencies, scripts, rest.private], [undefined, undefined, undefined]);
    assert.deepEqual(publishConfig, { access: 'public', provenance: true });
    assert.match(home.url, /^git\+https:\/\/github\.com\/[\w-]+\/[\w-]+\.git$/u);
  });

  test('it is packed without the scripts of the checkout, which keeps them', () => {
    assert.equal(
      readFileSync(join(checkout, 'package.json'), 'utf8'),
      readFileSync(join(root, 'package.json'), 'utf8'),
    );
  });

  test('it plans, runs with the demo agent, and checks the setup', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    assert.equal(drover('--version').trim(), version);
    drover('init');
    drover('add', 'Greet the user');
    assert.match(drover('run', '--gate', 'true'), /1 completed/u);
    assert.match(run('git', ['log', '--oneline']), /Greet the user/u);
    const { checks } = JSON.parse(drover('doctor', '--json'));
    assert.ok(
      checks.every(({ ok }: { readonly ok: boolean }) => ok),
      JSON.stringify(checks),
    );
  });

  for (const shell of ['bash', 'zsh', 'fish']) {
    test(`completion works in ${shell}`, () => {
      assert.match(drover('completion', shell), /drover/u);
    });
  }
});
