import { bundledRelay } from './relay-bundle.ts'

/** Called by vitest before the first file: the processes that it starts find the bundle by the environment. */
export default async function setup(): Promise<() => void> {
  process.env['DOCRELAY_TEST_RELAY'] = await bundledRelay()
  return () => void delete process.env['DOCRELAY_TEST_RELAY']
}
