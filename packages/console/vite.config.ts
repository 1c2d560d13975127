import { defineConfig } from 'vite'
import { leanLibraries } from './lean-libraries.ts'

/** The client and the views around a page, with all that they import, and what several panels share: what everybody loads who is signed in. */
const VIEWS = 'session/open-session|documents/documents-view|document/document-view|share/share-view|usage/usage-view|app/age'
const signedIn = new RegExp(`/console/src/(?:${VIEWS})\\.tsx?$|/model/src/blob-references\\.ts$`)

/** The page is served under the path that the operator chose, so every address in it is relative. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [leanLibraries()],
  // `h` takes children as arguments, which is shorter than a member of an object.
  oxc: {
    jsx: { runtime: 'classic', pragma: 'jsxElement', pragmaFrag: 'JsxFragment' },
    jsxInject: "import { h as jsxElement, Fragment as JsxFragment } from 'preact'",
  },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      treeshake: {
        // `$` makes a schema of lib0, which makes schemas that nobody here uses while it is loaded: 2 kB compressed.
        manualPureFunctions: ['$'],
        propertyReadSideEffects: false,
        unknownGlobalSideEffects: false,
      },
      optimization: { inlineConst: { mode: 'all', pass: 3 } },
      output: {
        // A class is declared by its name then, and not as the value of a `var`.
        topLevelVar: false,
        // Few files: small ones compress badly, and their names in the imports of others do not compress at all.
        codeSplitting: {
          groups: [
            { name: 'start', tags: ['$initial'], priority: 2 },
            { name: 'signed-in', test: signedIn, priority: 1 },
            // With the libraries of editors. It comes while the content of any document is on its way, so that panels find it there.
            { name: 'prose-page', test: /\/console\/src\/prose\/(?:prose-page|outline)\.tsx$/ },
          ],
        },
      },
    },
  },
  define: { 'process.env.NODE_ENV': '"production"' },
})
