// Finds classes in disguise: functions whose nested functions assign several of their `let`s. It
// uses TypeScript's own parser.

import {
  isAssignmentOperator,
  isBinaryExpression,
  isBindingElement,
  isFunctionDeclaration,
  isIdentifier,
  isParameterDeclaration,
  isPostfixUnaryExpression,
  isPrefixUnaryExpression,
  isPropertyAssignment,
  isVariableDeclaration,
  NodeFlags,
  SyntaxKind,
  type Node,
} from 'typescript/unstable/ast';
import { createVirtualFileSystem } from 'typescript/unstable/fs';
import { API } from 'typescript/unstable/sync';
import type { SourceFile } from './source-files.ts';

/** A function, and those of its `let`s that nested functions assign. */
export interface SharedLets {
  /** `path: name`, or `path:line` for a function without a name. */
  readonly at: string;
  readonly lets: readonly string[];
}

interface Scope {
  readonly at: string;
  readonly outer: Scope | null;
  readonly lets: Set<string>;
  /** Other declarations, each of which shadows an outer one with the same name. */
  readonly others: Set<string>;
  readonly assigned: Set<string>;
}

const project = '/house/tsconfig.json';

/** Every function that shares a `let` with nested functions, in the order of the files. */
export function sharedLets(files: readonly SourceFile[]): readonly SharedLets[] {
  const code = files.filter(({ path }) => path.endsWith('.ts'));
  const texts = Object.fromEntries(code.map(({ path, text }) => [`/house/${path}`, text]));
  const config = {
    compilerOptions: { noLib: true, noResolve: true, types: [] },
    include: ['**/*'],
  };
  const fs = createVirtualFileSystem({ ...texts, [project]: JSON.stringify(config) });
  const api = new API({ cwd: '/house', fs });
  try {
    const program = api.updateSnapshot({ openProjects: [project] }).getProject(project)?.program;
    return code.flatMap(({ path }) => {
      const file = program?.getSourceFile(`/house/${path}`);
      if (file === undefined) throw new Error(`${path} was not parsed`);
      return inFile(path, file);
    });
  } finally {
    api.close();
  }
}

function inFile(path: string, file: Node): readonly SharedLets[] {
  const scopes: Scope[] = [];
  const visit = (node: Node, scope: Scope): void => {
    declare(node, scope);
    for (const name of assignedBy(node)) scope.assigned.add(name);
    const inner = isFunction(node) ? scopeOf(path, node, scope) : scope;
    if (inner !== scope) scopes.push(inner);
    node.forEachChild((child) => visit(child, inner));
  };
  file.forEachChild((child) => visit(child, { ...scopeOf(path, file, null) }));
  const shared = new Map<Scope, Set<string>>();
  for (const scope of scopes)
    for (const name of scope.assigned) {
      const owner = ownerOf(name, scope);
      if (owner === null || owner === scope || !owner.lets.has(name)) continue;
      shared.set(owner, (shared.get(owner) ?? new Set()).add(name));
    }
  return [...shared].map(([{ at }, lets]) => ({ at, lets: [...lets] }));
}

function scopeOf(path: string, node: Node, outer: Scope | null): Scope {
  const named = isFunctionDeclaration(node) ? node.name : nameGivenTo(node);
  const before = node.getSourceFile().text.slice(0, node.getStart());
  const at =
    named === undefined ? `${path}:${before.split('\n').length}` : `${path}: ${named.getText()}`;
  return { at, outer, lets: new Set(), others: new Set(), assigned: new Set() };
}

/** Methods have their own names; other functions have the name of the variable that holds them. */
function nameGivenTo(node: Node): Node | undefined {
  const own = (node as { name?: Node }).name;
  if (own !== undefined) return own;
  const { parent } = node;
  return parent !== undefined && isVariableDeclaration(parent) ? parent.name : undefined;
}

function ownerOf(name: string, from: Scope): Scope | null {
  for (let scope: Scope | null = from; scope !== null; scope = scope.outer)
    if (scope.lets.has(name) || scope.others.has(name)) return scope;
  return null;
}

function isFunction(node: Node): boolean {
  switch (node.kind) {
    case SyntaxKind.ArrowFunction:
    case SyntaxKind.Constructor:
    case SyntaxKind.FunctionDeclaration:
    case SyntaxKind.FunctionExpression:
    case SyntaxKind.GetAccessor:
    case SyntaxKind.MethodDeclaration:
    case SyntaxKind.SetAccessor:
      return true;
    default:
      return false;
  }
}

function declare(node: Node, scope: Scope): void {
  if (isVariableDeclaration(node) || isBindingElement(node) || isParameterDeclaration(node)) {
    // A hole in an array pattern has no name.
    const name: Node | undefined = node.name;
    if (name === undefined || !isIdentifier(name)) return;
    (isLet(node) ? scope.lets : scope.others).add(name.text);
  } else if (isFunctionDeclaration(node) && node.name !== undefined)
    scope.others.add(node.name.text);
}

/** Whether the nearest declaration list uses `let`; parameters have no list. */
function isLet(node: Node): boolean {
  if (node.kind === SyntaxKind.VariableDeclarationList) return (node.flags & NodeFlags.Let) !== 0;
  if (isFunction(node) || node.parent === undefined) return false;
  return isLet(node.parent);
}

function assignedBy(node: Node): readonly string[] {
  if (isBinaryExpression(node) && isAssignmentOperator(node.operatorToken.kind))
    return namesIn(node.left);
  if (isPostfixUnaryExpression(node)) return namesIn(node.operand);
  const counts = [SyntaxKind.PlusPlusToken, SyntaxKind.MinusMinusToken];
  if (isPrefixUnaryExpression(node) && counts.includes(node.operator)) return namesIn(node.operand);
  return [];
}

/** The names that a pattern on the left of `=` assigns: `a`, `[a, b]`, `{ a, b: c }`. */
function namesIn(node: Node): readonly string[] {
  if (isIdentifier(node)) return [node.text];
  const names: string[] = [];
  const patterns = [SyntaxKind.ArrayLiteralExpression, SyntaxKind.ObjectLiteralExpression];
  if (patterns.includes(node.kind))
    node.forEachChild((child) => {
      if (isPropertyAssignment(child)) names.push(...namesIn(child.initializer));
      else if (child.kind === SyntaxKind.ShorthandPropertyAssignment)
        child.forEachChild((name) => names.push(...namesIn(name)));
      else names.push(...namesIn(child));
    });
  return names;
}
