#!/usr/bin/env node
// Loads the program only on a Node that can run it, so that an older one gets a sentence and no stack.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major > 22 || (major === 22 && minor >= 18)) {
  const { main } = await import('../src/main.ts')
  await main(process.argv.slice(2))
} else {
  process.stderr.write(`docrelay: Node 22.18 or newer is needed, this is ${process.versions.node}; https://nodejs.org has one\n`)
  process.exitCode = 1
}
