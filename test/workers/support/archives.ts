// Archives for uploads: of a folder by the system's own tar, and hostile ones entry by entry.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { removeFolder } from '../../remove-folder.ts';

export type Entry = Parameters<ReturnType<typeof pack>['entry']>[0] & {
  readonly content?: string | Uint8Array;
};

export async function tarOf(entries: readonly Entry[]): Promise<Buffer> {
  const archive = pack();
  const chunks: Buffer[] = [];
  archive.on('data', (chunk) => chunks.push(chunk as Buffer));
  const ended = new Promise((resolve) => archive.on('end', resolve as () => void));
  for (const { content, ...header } of entries) {
    if (content === undefined) archive.entry(header);
    else archive.entry(header, content);
  }
  archive.finalize();
  await ended;
  return Buffer.concat(chunks);
}

export async function tarGzOf(entries: readonly Entry[]): Promise<Buffer> {
  return gzipSync(await tarOf(entries));
}

/** Path → content, packed by the system's tar. */
export function systemTarGz(files: Readonly<Record<string, string>>): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'drover-archive-'));
  try {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    return execFileSync('tar', ['-czf', '-', '-C', folder, '.'], { maxBuffer: 1 << 28 });
  } finally {
    removeFolder(folder);
  }
}

/** Unpacks with the system's tar, which complains about an archive that is cut. */
export function unpackInto(folder: string, archive: Uint8Array): void {
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-xzf', '-', '-C', folder], { input: archive, stdio: 'pipe' });
}
