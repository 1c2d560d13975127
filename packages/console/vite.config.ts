import { defineConfig } from 'vite'
import { leanLibraries } from './lean-libraries.ts'

/** The client and the views around a page, with all that they import: what everybody loads who is signed in. */
const VIEWS = 'session/open-session|documents/documents-view|document/document-view|share/share-view|usage/usage-view'
const signedIn = new RegExp(`/console/src/(?:${VIEWS})\\.tsx?$|/model/src/blob-references\\.ts$`)

/** The page is served under the path that the operator chose, so every address in it is relative. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [leanLibraries()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      // `$` makes a schema of lib0, which makes schemas that nobody here uses while it is loaded: 2 kB compressed.
      treeshake: { manualPureFunctions: ['$'] },
      output: {
        // Few files: small ones compress badly, and their names in the imports of others do not compress at all.
        codeSplitting: {
          groups: [
            { name: 'start', tags: ['$initial'], priority: 2 },
            { name: 'signed-in', test: signedIn, priority: 1 },
          ],
        },
      },
    },
  },
  define: { 'process.env.NODE_ENV': '"production"' },
})
