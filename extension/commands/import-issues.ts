// Import Issues: turns issues into a plan on a page. The user reviews them there, ticks the ones to
// add, and adds them.

import * as vscode from 'vscode';
import type { IssuePlanView } from '../../server/protocol/spec-plan.ts';
import { toFailure } from '../backend/failure.ts';
import { keepPlan } from '../plan/kept-plans.ts';
import type { Project } from '../project/project.ts';
import { withProject, type CommandContext, type Handlers } from './context.ts';

export const importIssuesHandlers: Handlers<'drover.importIssues'> = {
  'drover.importIssues': withProject(async (context, project) => {
    const memory = context.extension.workspaceState;
    const words = await askWords(memory.get<string>(lastKey) ?? '');
    if (words === null) return;
    await memory.update(lastKey, words);
    const plan = await planSignedIn(context, project, words);
    if (plan === null) return;
    if (plan.tasks.length + plan.left_out.length === 0) {
      context.messages.tell(
        'info',
        `${plan.repository} has no open issue that matches “${words}”.`,
      );
      return;
    }
    const id = await keepPlan(memory, plan);
    context.showPanel('plan', { root: project.root, id, attempt: null });
  }),
};

/** The search terms of the last import, to import the same issues again. */
const lastKey = 'importedIssues';

async function askWords(value: string): Promise<string | null> {
  const given = await vscode.window.showInputBox({
    title: 'Import Issues of GitHub',
    prompt:
      'Numbers, label:<name>, milestone:<title>, or words of a search. You see the plan first.',
    placeHolder: 'label:drover',
    value,
    ignoreFocusOut: true,
  });
  const trimmed = given?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}

/**
 * Asks the user to sign in only if the issues cannot be read otherwise. Returns null if they
 * declined.
 */
async function planSignedIn(
  { messages }: CommandContext,
  project: Project,
  words: string,
): Promise<IssuePlanView | null> {
  for (;;) {
    try {
      return await plan(project, words);
    } catch (error) {
      const { kind, message } = toFailure(error);
      if (kind !== 'sign_in') throw error;
      const server = enterpriseHost();
      const choices = [signIn, ...(server === null ? [] : [signInToServer])];
      const chosen = await messages.show(
        'warning',
        `The issues cannot be read: ${message}`,
        choices,
      );
      if (chosen === null) return null;
      const provider = chosen === signIn ? 'github' : 'github-enterprise';
      await vscode.authentication.getSession(provider, scopes, { createIfNone: true });
    }
  }
}

const signIn = 'Sign In to GitHub';
const signInToServer = 'Sign In to GitHub Enterprise';
const scopes = ['repo'];

async function plan(project: Project, words: string): Promise<IssuePlanView> {
  const progress = { location: vscode.ProgressLocation.Window, title: 'Drover: reading issues…' };
  return await vscode.window.withProgress(progress, async () =>
    project.request('issues.plan', { words: words.split(/\s+/u), env: await tokens() }),
  );
}

/** Tokens of sessions that the person has allowed; each token is used only for its own host. */
async function tokens(): Promise<Record<string, string>> {
  const server = enterpriseHost();
  const github = await sessionOf('github');
  const own = server === null ? null : await sessionOf('github-enterprise');
  return {
    ...(github === null ? {} : { GH_TOKEN: github }),
    ...(own === null || server === null ? {} : { GH_ENTERPRISE_TOKEN: own, GH_HOST: server }),
  };
}

async function sessionOf(provider: string): Promise<string | null> {
  try {
    const session = await vscode.authentication.getSession(provider, scopes, { silent: true });
    return session?.accessToken ?? null;
  } catch {
    // An editor without this provider, such as one in a browser.
    return null;
  }
}

function enterpriseHost(): string | null {
  const uri = vscode.workspace.getConfiguration('github-enterprise').get<string>('uri') ?? '';
  return URL.canParse(uri) ? new URL(uri).host : null;
}
