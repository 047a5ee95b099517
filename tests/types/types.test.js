// The declarations that ship, against the contract in api.d.ts. For each entry of package.json that the contract
// knows, a file of assignments is made, one for each exported name, and type-checked: what ships may add to the
// contract, not rename, drop or narrow it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../', import.meta.url));
const contract = join(root, 'tests/types/api.d.ts');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

// Types that callers write rather than read: the contract's must be good enough for what ships.
const INPUT = /Options$|^(Policy|Strategy|Trigger|Format)$/;

/** The modules of the contract: name to its text and to the statements in it that are exported. */
function contractModules() {
  const file = ts.createSourceFile(contract, readFileSync(contract, 'utf8'), ts.ScriptTarget.Latest, true);
  const modules = new Map();
  for (const statement of file.statements) {
    if (!ts.isModuleDeclaration(statement) || !statement.body || !ts.isModuleBlock(statement.body)) continue;
    const exported = statement.body.statements.filter((inner) => ts.canHaveModifiers(inner)
      && ts.getModifiers(inner)?.some((modifier) => modifier.kind === ts.SyntaxKind.ExportKeyword));
    modules.set(statement.name.text, { text: statement.getText(), exported });
  }
  return modules;
}

/** A function that turns `from` into `to` when the one type is assignable to the other. */
function assignment(name, parameters, from, to) {
  const declared = parameters?.length ? `<${parameters.map((p) => p.getText()).join(', ')}>` : '';
  const used = parameters?.length ? `<${parameters.map((p) => p.name.text).join(', ')}>` : '';
  return `export function _${name}${declared}(value: ${from}.${name}${used}): ${to}.${name}${used} { return value; }`;
}

/** The lines that check one exported statement of the contract. */
function checks(statement) {
  if (ts.isFunctionDeclaration(statement)) {
    const name = statement.name.text;
    return [`export const _${name}: typeof contract.${name} = shipped.${name};`];
  }
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name: { text } }) =>
      `export const _${text}: typeof contract.${text} = shipped.${text};`);
  }
  const name = statement.name.text;
  const lines = [assignment(name, statement.typeParameters, 'shipped', 'contract')];
  if (ts.isClassDeclaration(statement) && statement.members.some(ts.isConstructorDeclaration)) {
    lines.push(`export const _new${name}: new (...values: ConstructorParameters<typeof contract.${name}>)`
      + ` => contract.${name} = shipped.${name};`);
  }
  if (INPUT.test(name)) {
    lines.push(assignment(name, statement.typeParameters, 'contract', 'shipped').replace('_', '_from'));
  }
  return lines;
}

/** Files that every check reads: those of TypeScript itself. */
const parsed = new Map();

/** Type-checks the files, given by name, as if they were in this folder. */
function typeCheck(files) {
  const options = {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.dom.asynciterable.d.ts', 'lib.esnext.disposable.d.ts'],
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.getSourceFile = (name, ...rest) => {
    if (files.has(name)) return ts.createSourceFile(name, files.get(name), ts.ScriptTarget.ES2022);
    if (!parsed.has(name)) parsed.set(name, getSourceFile.call(host, name, ...rest));
    return parsed.get(name);
  };
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.readFile = (name) => files.get(name) ?? readFile(name);
  const program = ts.createProgram([...files.keys()], options, host);
  return ts.getPreEmitDiagnostics(program).map((diagnostic) => {
    const text = ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n');
    if (!diagnostic.file) return text;
    const { line } = diagnostic.file.getLineAndCharacterOfPosition(diagnostic.start);
    return `${diagnostic.file.text.split('\n')[line].trim()}\n${text}`;
  });
}

const modules = contractModules();
for (const [key, target] of Object.entries(manifest.exports)) {
  const entry = key.replace(/^\./, manifest.name);
  if (!modules.has(entry)) continue;
  test(`the declarations of "${entry}" are the contract's, or more`, () => {
    const path = `../../${target.types.replace(/^\.\//, '').replace(/\.d\.ts$/, '.js')}`;
    const source = [
      `import type * as contract from '${entry}';`,
      `import * as shipped from '${path}';`,
      ...modules.get(entry).exported.flatMap(checks),
    ].join('\n');
    // Of the contract only this module: what it imports from the others is what ships.
    const problems = typeCheck(new Map([
      [join(root, 'tests/types/contract.d.ts'), modules.get(entry).text],
      [join(root, 'tests/types/check.ts'), source],
    ]));
    assert.equal(problems.length, 0, problems.join('\n\n'));
  });
}
