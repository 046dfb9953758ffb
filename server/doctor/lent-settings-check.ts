// Names the user's git settings that differ in the sandbox.

import { openGitAdapter } from '../git/repository/adapter.ts';
import { lentNames } from '../git/lent/lent-settings.ts';

/** One line of `drover doctor`, or none if no setting differs. */
export async function lentSettingsCheck(
  root: string,
): Promise<readonly { readonly name: string; readonly ok: true; readonly message: string }[]> {
  const opened = await openGitAdapter().open(root);
  const names = opened.ok ? await lentNames(opened.value.context) : opened;
  // Another check reports an unreadable repository.
  if (!names.ok) return [];
  const { brought, off } = names.value;
  const parts = [
    ...(brought.length === 0 ? [] : [`copied for confined programs: ${brought.join(', ')}`]),
    ...(off.length === 0 ? [] : [`off for confined programs: ${off.join(', ')}`]),
  ];
  if (parts.length === 0) return [];
  return [{ name: 'git in the sandbox', ok: true, message: parts.join('; ') }];
}
