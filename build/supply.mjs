// Third-party software in the package: all licenses in one text, and a bill of materials
// (CycloneDX) from `npm sbom`, reduced to the bundled packages.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isWindows } from '../bin/system.mjs';

/**
 * Licenses that permit shipping third-party software inside Drover, if their texts are included.
 */
export const acceptedLicences = new Set(
  '0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause CC-BY-4.0 CC0-1.0 ISC MIT MIT-0 Unlicense Zlib'.split(
    ' ',
  ),
);

/**
 * @param {string} root
 * @param {string} folder of the package, from the root
 */
export function packageAt(root, folder) {
  const { name, version, license, licenses, homepage, repository } = JSON.parse(
    readFileSync(join(root, folder, 'package.json'), 'utf8'),
  );
  const licence = license?.type ?? license ?? licenses?.map(({ type }) => type).join(' OR ') ?? '';
  const home = homepage ?? repository?.url ?? repository ?? '';
  const files = readdirSync(join(root, folder)).filter((file) =>
    /^(?:licen[cs]e|copying|notice|unlicense)/i.test(file),
  );
  const texts = files.map((file) => readFileSync(join(root, folder, file), 'utf8').trim());
  return { folder, name, version, licence: String(licence), home: String(home), texts };
}

/** @param {string} licence an expression of SPDX: one accepted of alternatives, or all of several */
export function isAccepted(licence) {
  const clean = licence.replace(/[()]/g, '');
  return clean
    .split(' OR ')
    .some((one) => one.split(' AND ').every((part) => acceptedLicences.has(part)));
}

/** @param {ReturnType<typeof packageAt>[]} packages */
export function noticesOf(packages) {
  const parts = packages.map(({ name, version, licence, home, texts }) => {
    const text =
      texts.length > 0
        ? texts.join('\n\n')
        : `(The package brings no text of its licence, ${licence}.)`;
    return `${name} ${version}\n${licence}\n${home}\n\n${text}\n`;
  });
  const line = `\n${'-'.repeat(80)}\n\n`;
  const top = 'Drover contains the following software of others, under these licences.\n';
  return [top, ...parts].join(line);
}

/**
 * @param {string} root
 * @param {ReturnType<typeof packageAt>[]} packages
 */
export function billOfMaterials(root, packages) {
  const how = ['--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
  const told = execFileSync('npm', ['sbom', ...how], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: isWindows,
  });
  const bill = JSON.parse(told);
  const wanted = new Set(packages.map(({ name, version }) => `${name}@${version}`));
  const refOf = ({ name, version, group }) => `${group ? `${group}/` : ''}${name}@${version}`;
  bill.components = bill.components.filter((component) => wanted.delete(refOf(component)));
  if (wanted.size > 0) throw new Error(`npm knows nothing of ${[...wanted].join(', ')}.`);
  const kept = new Set(bill.components.map((component) => component['bom-ref']));
  const own = bill.metadata.component;
  // The folder's name replaces the product's name.
  own.name = 'drover';
  own.properties = [];
  bill.dependencies = bill.dependencies
    .filter(({ ref }) => kept.has(ref) || ref === own['bom-ref'])
    .map(({ ref, dependsOn = [] }) => ({
      ref,
      dependsOn: dependsOn.filter((one) => kept.has(one)),
    }));
  for (const component of bill.components) {
    component.scope = 'required';
    component.properties = [];
  }
  return bill;
}

/**
 * Writes both files beside the bundles. Refuses a license that is not accepted.
 * @param {string} root
 * @param {string} dist
 */
export function writeSupply(root, dist) {
  const list = join(dist, 'bundled-packages.json');
  if (!existsSync(list)) throw new Error(`${list} is not there: build with --production first.`);
  const folders = JSON.parse(readFileSync(list, 'utf8'));
  const packages = folders.map((folder) => packageAt(root, folder));
  const refused = packages.filter(({ licence }) => !isAccepted(licence));
  if (refused.length > 0) {
    const names = refused.map(({ name, licence }) => `${name} (${licence || 'none'})`);
    throw new Error(`These licences are not among those that may be shipped: ${names.join(', ')}.`);
  }
  writeFileSync(join(dist, 'THIRD-PARTY-NOTICES.txt'), noticesOf(packages));
  const bill = billOfMaterials(root, packages);
  writeFileSync(join(dist, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 1)}\n`);
  return packages.length;
}
