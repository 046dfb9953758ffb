// The content of a paste or a drop. Pure, except for reading files.

import {
  attachmentBytesMax,
  detectImageType,
  otherTypeSentence,
  tooLargeSentence,
} from '../../../server/core/plan/attachments.ts';

/** Types that VS Code and other programs use for the addresses of dragged files. */
const addressTypes = ['application/vnd.code.uri-list', 'resourceurls', 'text/uri-list'] as const;
/** The type that Monaco adds to a text that was copied from an editor. */
const editorType = 'vscode-editor-data';

export function hasFiles({ types }: DataTransfer): boolean {
  return types.includes('Files') || addressesTypeOf(types) !== null;
}

export function isFromEditor({ types }: DataTransfer): boolean {
  return types.includes(editorType);
}

/** Addresses of dragged files, but not of web pages, which are treated as text. */
export function droppedAddresses(transfer: DataTransfer): readonly string[] {
  const type = addressesTypeOf(transfer.types);
  if (type === null) return [];
  const data = transfer.getData(type);
  const found = type === 'resourceurls' ? addressList(data) : data.split(/\r?\n/u);
  return found.filter((uri) => /^(?:file|vscode-remote):/u.test(uri));
}

function addressesTypeOf(types: readonly string[]): (typeof addressTypes)[number] | null {
  return addressTypes.find((type) => types.some((each) => each.toLowerCase() === type)) ?? null;
}

function addressList(json: string): readonly string[] {
  try {
    const list = JSON.parse(json) as unknown;
    return Array.isArray(list) ? list.filter((uri) => typeof uri === 'string') : [];
  } catch {
    return [];
  }
}

/** An image in base64, or a sentence that says why the file cannot be added. */
export type ReadImage =
  | { readonly content: string; readonly refused: null }
  | { readonly refused: string };

export async function readImage(file: File): Promise<ReadImage> {
  if (!file.type.startsWith('image/')) {
    return {
      refused: `${file.name} is not an image. Drag it from VS Code's Explorer, so that its path is known.`,
    };
  }
  if (file.size > attachmentBytesMax) return { refused: tooLargeSentence(file.name) };
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (detectImageType(bytes) === null) return { refused: otherTypeSentence(file.name) };
  return { content: await base64Of(file), refused: null };
}

/** Uses a FileReader, because not every supported VS Code has `toBase64`. */
async function base64Of(file: File): Promise<string> {
  const reader = new FileReader();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  reader.addEventListener('load', () => resolve());
  reader.addEventListener('error', () => reject(new Error(`${file.name} cannot be read.`)));
  reader.readAsDataURL(file);
  await promise;
  const address = reader.result as string;
  return address.slice(address.indexOf(',') + 1);
}
