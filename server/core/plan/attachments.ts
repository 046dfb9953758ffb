// Images in a task's description. The files are named after their content, and the description
// refers to them as `![words](attachment:<name>)`.

import { formatBytes } from '../format.ts';

export const attachmentTypes = ['png', 'jpg', 'gif', 'webp'] as const;
export type AttachmentType = (typeof attachmentTypes)[number];

/** The size limit that agents have for one image. */
export const attachmentBytesMax = 5 * 1024 * 1024;
/** Maximum number of attachments per description that are passed to an agent. */
const namedMax = 50;
const labelCharsMax = 100;

const nameSource = `[0-9a-f]{64}\\.(?:${attachmentTypes.join('|')})`;
const wholeName = new RegExp(`^${nameSource}$`, 'u');

export function isAttachmentName(name: string): boolean {
  return wholeName.test(name);
}

/** The names that a text refers to, each once, in text order. */
export function findAttachments(text: string, max = namedMax): readonly string[] {
  const found = text.matchAll(new RegExp(`attachment:(${nameSource})(?![\\w.])`, 'gu'));
  return [...new Set([...found].map(([, name = '']) => name))].slice(0, max);
}

/** Returns Markdown for an image. `label` is usually the original file name. */
export function attachmentText(name: string, label: string): string {
  const words = label
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, ' ')
    .trim()
    .slice(0, labelCharsMax);
  return `![${words === '' ? 'image' : words}](attachment:${name})`;
}

/**
 * Detects the image type from the first bytes, whatever the file's name. Returns null if the type
 * is not supported.
 */
export function detectImageType(bytes: Uint8Array): AttachmentType | null {
  const begins = (signature: string, at = 0): boolean =>
    Array.from(signature, (character) => character.charCodeAt(0)).every(
      (byte, index) => bytes[at + index] === byte,
    );
  if (begins('\x89PNG\r\n\x1a\n')) return 'png';
  if (begins('\xff\xd8\xff')) return 'jpg';
  if (begins('GIF87a') || begins('GIF89a')) return 'gif';
  return begins('RIFF') && begins('WEBP', 8) ? 'webp' : null;
}

export function tooLargeSentence(label: string): string {
  return `${label} is larger than ${formatBytes(attachmentBytesMax)}. Make it smaller.`;
}

export function otherTypeSentence(label: string): string {
  return `${label} is not an image that can be shown (${attachmentTypes.join(', ')}).`;
}
