// The files of an upload folder by folder, and the omitted ones, limited in number for display as a
// tree.

import type { RemotePreview, UploadFolderView } from '../protocol/remote-views.ts';
import type { UploadPlan } from '../workers/client/upload-plan.ts';

type PreviewTree = Pick<RemotePreview, 'folders' | 'folders_more' | 'left_out' | 'left_out_more'>;

/** More than a person would read. The counts include folders that are not listed. */
const foldersMax = 2_000;
const leftOutMax = 2_000;

/** Returns null if nothing would be uploaded. */
export function previewTree(plan: Pick<UploadPlan, 'entries' | 'leftOut'> | null): PreviewTree {
  const folders = plan === null ? [] : foldersOf(plan.entries);
  const leftOut = (plan?.leftOut ?? []).toSorted(byPath);
  return {
    folders: folders.slice(0, foldersMax),
    folders_more: Math.max(0, folders.length - foldersMax),
    left_out: leftOut.slice(0, leftOutMax),
    left_out_more: Math.max(0, leftOut.length - leftOutMax),
  };
}

function foldersOf(entries: UploadPlan['entries']): readonly UploadFolderView[] {
  const folders = new Map<string, { files: number; bytes: number }>();
  for (const entry of entries) {
    if (entry.kind !== 'file') continue;
    const path = entry.path.slice(0, Math.max(0, entry.path.lastIndexOf('/')));
    const folder = folders.get(path) ?? { files: 0, bytes: 0 };
    folder.files += 1;
    folder.bytes += entry.bytes;
    folders.set(path, folder);
  }
  return [...folders].map(([path, sizes]) => ({ path, ...sizes })).toSorted(byPath);
}

function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}
