import regexp from 'eslint-plugin-regexp';

const builtIn = [
  'AbortController', 'AbortSignal', 'Blob', 'Buffer', 'DOMException', 'Event', 'EventTarget', 'FinalizationRegistry',
  'ReadableStream', 'Request', 'Response', 'TextDecoder', 'TextEncoder', 'TransformStream', 'URL', 'URLSearchParams',
  'WebAssembly', 'WritableStream', 'atob', 'btoa', 'clearInterval', 'clearTimeout', 'console', 'crypto', 'fetch',
  'globalThis', 'performance', 'queueMicrotask', 'setInterval', 'setTimeout', 'structuredClone',
];
const browser = [
  'BroadcastChannel', 'CSSStyleSheet', 'CustomEvent', 'Document', 'DragEvent', 'Element', 'File', 'FileReader',
  'HTMLElement', 'IDBKeyRange', 'IntersectionObserver', 'KeyboardEvent', 'MessageChannel', 'MutationObserver', 'Node',
  'ResizeObserver', 'ShadowRoot', 'Worker', 'addEventListener', 'cancelAnimationFrame', 'customElements', 'document',
  'getComputedStyle', 'indexedDB', 'localStorage', 'location', 'matchMedia', 'navigator', 'postMessage',
  'requestAnimationFrame', 'self', 'window',
];
const node = ['gc', 'global', 'process', 'setImmediate'];
const readable = (names) => Object.fromEntries(names.map((name) => [name, 'readonly']));

const rules = {
  // Mistakes.
  'array-callback-return': 'error',
  'constructor-super': 'error',
  'for-direction': 'error',
  'getter-return': 'error',
  'no-async-promise-executor': 'error',
  'no-class-assign': 'error',
  'no-compare-neg-zero': 'error',
  'no-cond-assign': 'error',
  'no-const-assign': 'error',
  'no-constant-binary-expression': 'error',
  'no-constant-condition': ['error', { checkLoops: false }],
  'no-constructor-return': 'error',
  'no-dupe-args': 'error',
  'no-dupe-class-members': 'error',
  'no-dupe-else-if': 'error',
  'no-dupe-keys': 'error',
  'no-duplicate-case': 'error',
  'no-ex-assign': 'error',
  'no-fallthrough': 'error',
  'no-func-assign': 'error',
  'no-import-assign': 'error',
  'no-loss-of-precision': 'error',
  'no-promise-executor-return': 'off',
  'no-self-assign': 'error',
  'no-self-compare': 'error',
  'no-sparse-arrays': 'error',
  'no-template-curly-in-string': 'error',
  'no-this-before-super': 'error',
  'no-undef': 'error',
  'no-unmodified-loop-condition': 'error',
  'no-unreachable': 'error',
  'no-unsafe-finally': 'error',
  'no-unsafe-negation': 'error',
  'no-unsafe-optional-chaining': 'error',
  'no-unused-private-class-members': 'error',
  'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'all' }],
  'use-isnan': 'error',
  'valid-typeof': 'error',
  // What this project does not do.
  eqeqeq: ['error', 'always', { null: 'ignore' }],
  'no-eval': 'error',
  'no-extend-native': 'error',
  'no-implied-eval': 'error',
  'no-new-func': 'error',
  'no-new-wrappers': 'error',
  'no-restricted-syntax': ['error', {
    selector: 'ExportDefaultDeclaration',
    message: 'Exports have names.',
  }],
  'no-throw-literal': 'error',
  'no-var': 'error',
  'prefer-const': 'error',
};

export default [
  { ignores: ['build/', 'dist/', 'node_modules/', '.*'] },
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    languageOptions: { ecmaVersion: 2024, sourceType: 'module', globals: readable(builtIn) },
    rules,
  },
  { files: ['web/**', 'demo/**'], languageOptions: { globals: readable(browser) } },
  // What these read comes from anywhere: no expression may take longer than its input, not even to find no match.
  {
    files: ['web/**', 'demo/**'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
      'regexp/no-optional-assertion': 'error',
      'regexp/no-potentially-useless-backreference': 'error',
    },
  },
  { files: ['demo/*server*', 'demo/server/**', 'tests/**', 'tools/**'], languageOptions: { globals: readable(node) } },
  // Functions given to page.evaluate run in the page.
  { files: ['tests/**'], languageOptions: { globals: readable(browser) } },
  // Configuration files have a default export: their readers ask for it.
  { files: ['*.config.js', 'tests/package/**'], rules: { 'no-restricted-syntax': 'off' } },
];
