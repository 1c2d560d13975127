import type { Plugin } from 'vite'

/**
 * A stretch of a library that the page never runs. The stretch begins with `from` and ends before `to`, or is `from` itself where there is
 * no `to`. `instead` takes its place.
 */
interface Cut {
  readonly file: string
  readonly why: string
  readonly from: string
  readonly to?: string
  readonly instead: string
}

const unused = (name: string) => `{ throw new Error('${name} is not part of this page') }\n`

/** What the build leaves out of libraries. The libraries have exact versions, so a cut that no longer fits is found by the next build. */
const CUTS: readonly Cut[] = [
  {
    file: 'prosemirror-view/dist/index.js',
    why: 'Internet Explorer and the Edge of before Chromium cannot read the syntax of the page at all.',
    from: 'const ie_edge = ',
    to: 'const gecko = ',
    instead: 'const ie = false, ie_version = 0;\n',
  },
  {
    file: 'prosemirror-view/dist/index.js',
    why: 'Of the browsers with a broken clipboard, Internet Explorer and iOS 10, none can read the syntax of the page.',
    from: 'const brokenClipboardAPI = ',
    to: 'handlers.copy = ',
    instead: 'const brokenClipboardAPI = false;\n',
  },
  {
    file: 'y-prosemirror/src/plugins/sync-plugin.js',
    why: 'The editor shows no snapshots of a Y.Doc: former states come from recovery points. A binding that fails shows the page anew.',
    from: '  renderSnapshot (snapshot, prevSnapshot) {',
    to: '  _forceRerender () {',
    instead: `  renderSnapshot () ${unused('renderSnapshot of y-prosemirror')}`,
  },
  {
    file: 'y-prosemirror/src/plugins/sync-plugin.js',
    why: 'As above.',
    from: '  _renderSnapshot (snapshot, prevSnapshot, pluginState) {',
    to: '  /**\n   * @param {Array<Y.YEvent<any>>} events',
    instead: `  _renderSnapshot () ${unused('_renderSnapshot of y-prosemirror')}`,
  },
  {
    file: 'y-prosemirror/src/plugins/sync-plugin.js',
    why: 'As above.',
    from: '        if (binding.prosemirrorView !== null) {\n          if (\n            change !== undefined &&',
    to: '        return pluginState\n',
    instead: '',
  },
  {
    file: 'y-prosemirror/src/plugins/sync-plugin.js',
    why: 'As above.',
    from: '  if (snapshot === undefined || prevSnapshot === undefined) {\n    el.toArray().forEach(createChildren)',
    to: '  try {\n    const attrs = el.getAttributes(snapshot)',
    instead: '  el.toArray().forEach(createChildren)\n',
  },
  {
    file: 'y-prosemirror/src/plugins/sync-plugin.js',
    why: 'As above.',
    from: '    if (snapshot !== undefined) {\n      if (!isVisible(',
    to: '    const node = schema.node(el.nodeName, attrs, children)',
    instead: '',
  },
  {
    file: 'yjs/dist/yjs.mjs',
    why: 'As above.',
    from: "              const cur = currentAttributes.get('ychange');",
    to: '              str += /** @type {ContentString} */ (n.content).str;\n              break',
    instead: '',
  },
  {
    file: 'yjs/dist/yjs.mjs',
    why: 'As above.',
    from: '    if (snapshot || prevSnapshot) {\n      // snapshots are merged again',
    to: '    return ops\n',
    instead: '    computeDelta();\n',
  },
  {
    file: 'y-prosemirror/src/plugins/undo-plugin.js',
    why: 'The history of a page is one of our own, which outlives the view.',
    from: ' || new UndoManager(',
    to: '      return {\n        undoManager: _undoManager',
    instead: '\n',
  },
  {
    file: 'y-prosemirror/src/plugins/undo-plugin.js',
    why: 'As above.',
    from: '  view: view => {',
    to: '\n})',
    instead: '',
  },
  {
    file: 'yjs/dist/yjs.mjs',
    why: 'What is stored is drawn by the editor and by the model, and parts of it are found by walking through it.',
    from: '  createTreeWalker (filter) {',
    to: '  /**\n   * Creates YXmlEvent and calls observers.',
    instead: '',
  },
  {
    file: 'yjs/dist/yjs.mjs',
    why: 'As above.',
    from: '  toDOM (_document = document, hooks = {}, binding) {\n    const fragment',
    to: '  /**\n   * Inserts new content at an index.',
    instead: '',
  },
  {
    file: 'yjs/dist/yjs.mjs',
    why: 'As above.',
    from: '  toDOM (_document = document, hooks = {}, binding) {\n    const dom = _document',
    to: '  /**\n   * Transform the properties',
    instead: '',
  },
  {
    file: 'yjs/dist/yjs.mjs',
    why: 'As above.',
    from: '  toDOM (_document = document, hooks = {}, binding) {\n    const hook',
    to: '  /**\n   * Transform the properties',
    instead: '',
  },
  {
    file: 'yjs/dist/yjs.mjs',
    why: 'As above.',
    from: '  toDOM (_document = document, hooks, binding) {',
    to: '  /**\n   * @param {UpdateEncoderV1 | UpdateEncoderV2} encoder\n   */\n  _write (encoder) {\n    encoder.writeTypeRef(YXmlTextRefID)',
    instead: '',
  },
  {
    file: 'y-prosemirror/src/utils.js',
    why: 'Names of marks get a hash only where a mark may be on the same text twice. The schema has no such mark.',
    from: 'import * as sha256',
    to: 'export const hashOfJSON',
    instead: '',
  },
  {
    file: 'y-prosemirror/src/utils.js',
    why: 'As above.',
    from: '(json) => buf.toBase64(_convolute(sha256.digest(buf.encodeAny(json))))',
    instead: `() => ${unused('hashOfJSON of y-prosemirror')}`,
  },
  {
    file: 'lib0/string.js',
    why: 'Every browser that can read the page has TextEncoder and TextDecoder. Safari 13, whose decoder was wrong, cannot read it.',
    from: "export let utf8TextDecoder = typeof TextDecoder === 'undefined' ? null : ",
    to: "new TextDecoder('utf-8'",
    instead: 'export const utf8TextDecoder = ',
  },
  {
    file: 'lib0/string.js',
    why: 'As above.',
    from: 'if (utf8TextDecoder && ',
    to: '/* c8 ignore stop */',
    instead: '',
  },
  {
    file: 'lib0/string.js',
    why: 'As above.',
    from: 'utf8TextEncoder ? _encodeUtf8Native : _encodeUtf8Polyfill',
    instead: '_encodeUtf8Native',
  },
  {
    file: 'lib0/encoding.js',
    why: 'As above.',
    from: '(string.utf8TextEncoder && /** @type {any} */ (string.utf8TextEncoder).encodeInto) ? _writeVarStringNative : _writeVarStringPolyfill',
    instead: '_writeVarStringNative',
  },
  {
    file: 'lib0/decoding.js',
    why: 'As above.',
    from: 'string.utf8TextDecoder ? _readVarStringNative : _readVarStringPolyfill',
    instead: '_readVarStringNative',
  },
  {
    file: 'prosemirror-tables/dist/index.js',
    why: 'The toolbar has the way of toggling a heading row that is not deprecated.',
    from: 'if (options.useDeprecatedLogic) return deprecated_toggleHeader(type);',
    instead: '',
  },
]

/**
 * Modules of lib0 that the page has in a form of its own. A name that is missing here fails the build.
 * - `environment`: the page runs in browsers alone, and none of its settings are in the address or in the storage of the browser.
 * - `logging`: what yjs prints stands in the console of the browser without colours.
 */
const REPLACED: Readonly<Record<string, string>> = {
  'lib0/environment.js': 'export const isBrowser = true\nexport const getVariable = () => null\n',
  'lib0/logging.js': `const plain = (args) => args.filter((arg) => arg !== '')
export const [BOLD, UNBOLD, ORANGE, RED] = ['', '', '', '']
export const print = (...args) => console.log(...plain(args))
export const warn = (...args) => console.warn(...plain(args))
`,
}

/** The files, below `node_modules`, that the page has in another form. */
export const LEAN_FILES: readonly string[] = [...new Set([...CUTS.map(({ file }) => file), ...Object.keys(REPLACED)])]

/** Makes the cuts and replaces the modules. Fails the build when a library does not hold a stretch exactly once. */
export function leanLibraries(): Plugin {
  return {
    name: 'docrelay:lean-libraries',
    apply: 'build',
    enforce: 'pre',
    transform: {
      filter: { id: LEAN_FILES.map((file) => new RegExp(`/node_modules/${file.replaceAll('.', '\\.')}$`)) },
      handler(code, id) {
        const file = LEAN_FILES.find((name) => id.endsWith(`/node_modules/${name}`))
        return { code: leanCode(file ?? '', code), map: null }
      },
    },
  }
}

/** Returns the code of a library's file without what the page never runs. */
export function leanCode(file: string, code: string): string {
  return REPLACED[file] ?? CUTS.filter((cut) => cut.file === file).reduce(without, code)
}

function without(code: string, { file, from, to, instead }: Cut): string {
  const start = code.indexOf(from)
  if (start < 0 || code.includes(from, start + 1)) throw new Error(`${file} does not hold exactly once: ${from}`)
  const end = to === undefined ? start + from.length : code.indexOf(to, start)
  if (end < 0) throw new Error(`${file} has nothing like this after ${from}: ${to}`)
  return code.slice(0, start) + instead + code.slice(end)
}
