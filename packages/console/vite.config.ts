import { defineConfig } from 'vite'

/** The page is served under the path that the operator chose, so every address in it is relative. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // `$` makes a schema of lib0, which makes schemas that nobody here uses while it is loaded: 2 kB compressed.
    rolldownOptions: { treeshake: { manualPureFunctions: ['$'] } },
  },
  define: { 'process.env.NODE_ENV': '"production"' },
})
