// An attempt's upload as a tree: its folders, the largest files, and the omitted files with the
// reason. Pure.

import { formatBytes, formatCount } from '../../server/core/format.ts';
import type { LeftOut } from '../../server/core/work/left-out.ts';
import type { RemotePreview, UploadFolderView } from '../../server/protocol/remote-views.ts';
import { treeRow, type TreeRow } from '../trees/tree-row.ts';

const reasons: { readonly [R in LeftOut['reason']]: string } = {
  secret: 'Names that look like secrets',
  ignored: 'Named by .droverignore',
  dependency: 'Dependencies and build output that git does not track',
  link: 'Links that lead out of the project',
  special: 'Not regular files',
  name: 'Names that are not UTF-8',
  repository: 'Nested repositories',
  submodule: 'Submodules',
  own: "Git's and Drover's own",
};

export function uploadRows(preview: RemotePreview): readonly TreeRow[] {
  if (preview.refused !== null) {
    const label = preview.refused;
    return [treeRow({ id: 'upload refused', label, icon: 'error', color: 'list.errorForeground' })];
  }
  const largest = preview.largest.map(({ path, bytes }) =>
    treeRow({
      id: `upload largest ${path}`,
      label: path,
      description: formatBytes(bytes),
      icon: 'file',
    }),
  );
  const variables = preview.env.map((name) =>
    treeRow({ id: `upload variable ${name}`, label: name, icon: 'symbol-variable' }),
  );
  return [
    filesRow(preview),
    leftOutRow(preview),
    ...(largest.length === 0 ? [] : [group('largest', 'Largest files', 'graph', largest)]),
    ...(variables.length === 0
      ? []
      : [group('variables', 'Variables for the agent', 'symbol-variable', variables)]),
  ];
}

function group(
  name: string,
  label: string,
  icon: string,
  children: readonly TreeRow[],
  description = String(children.length),
): TreeRow {
  return treeRow({ id: `upload ${name}`, label, icon, children, description });
}

/** Up to this many omitted files, the reasons are expanded at first. */
const openMax = 12;

function leftOutRow({ left_out: all, left_out_more: more }: RemotePreview): TreeRow {
  const groups = (Object.keys(reasons) as LeftOut['reason'][]).flatMap((reason) => {
    const rows = all
      .filter((one) => one.reason === reason)
      .map(({ path }) => {
        const tooltip = `${path}\n${reasons[reason]}`;
        const icon = path.endsWith('/') ? 'folder' : 'file';
        return treeRow({ id: `upload left ${path}`, label: path, tooltip, icon });
      });
    if (rows.length === 0) return [];
    const row = group(`left by ${reason}`, reasons[reason], 'exclude', rows);
    return [{ ...row, isOpen: all.length <= openMax }];
  });
  const rest = more === 0 ? [] : [moreRow('left', more)];
  const count = String(all.length + more);
  const row = group('left out', 'Left out', 'circle-slash', [...groups, ...rest], count);
  const tooltip = 'Files that stay here, besides those that git ignores.';
  return { ...row, tooltip, isOpen: all.length > 0 };
}

function moreRow(name: string, count: number): TreeRow {
  return treeRow({ id: `upload more ${name}`, label: `and ${count} more`, icon: 'ellipsis' });
}

interface Folder {
  readonly path: string;
  files: number;
  bytes: number;
  /** Size of the folder's own files. */
  own: number;
  readonly folders: Map<string, Folder>;
}

const newFolder = (path: string): Folder => ({
  path,
  files: 0,
  bytes: 0,
  own: 0,
  folders: new Map(),
});

function filesRow(preview: RemotePreview): TreeRow {
  const { files, bytes, folders, folders_more: more } = preview;
  const top = newFolder('');
  for (const folder of folders) addFolder(top, folder);
  const rest = more === 0 ? [] : [moreRow('folders', more)];
  return treeRow({
    id: 'upload files',
    label: 'Uploaded',
    description: sizeText(files, bytes),
    icon: 'cloud-upload',
    children: [...folderRows(top), ...rest],
  });
}

function addFolder(top: Folder, { path, files, bytes }: UploadFolderView): void {
  let at = top;
  at.files += files;
  at.bytes += bytes;
  for (const name of path === '' ? [] : path.split('/')) {
    const next = at.folders.get(name) ?? newFolder(at.path === '' ? name : `${at.path}/${name}`);
    at.folders.set(name, next);
    next.files += files;
    next.bytes += bytes;
    at = next;
  }
  at.own += files;
}

function folderRows({ folders, own, path }: Folder): readonly TreeRow[] {
  const rows = [...folders].map(([name, folder]) =>
    treeRow({
      id: `upload folder ${folder.path}`,
      label: name,
      tooltip: folder.path,
      description: sizeText(folder.files, folder.bytes),
      icon: 'folder',
      children: folder.folders.size === 0 ? [] : folderRows(folder),
    }),
  );
  if (own === 0) return rows;
  const label = formatCount(own, 'file');
  return [...rows, treeRow({ id: `upload in ${path}`, label, tooltip: label, icon: 'files' })];
}

function sizeText(files: number, bytes: number): string {
  return `${formatCount(files, 'file')}, ${formatBytes(bytes)}`;
}
