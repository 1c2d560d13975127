import { expect, it } from 'vitest'
import { RelayError } from '@docrelay/client/errors'
import { endedText, failureText, startText } from './start-text.ts'

it('the message about a relay that a signal ended names the signal', () => {
  expect(endedText(null, 'SIGKILL', 'npm start')).toMatch(/ended by the signal SIGKILL.*npm start/)
  expect(endedText(1, null, 'npm start')).toBe('The relay ended with code 1; its log above says why.')
})

it('the message about a relay that ended while the example ran names its address and what to do', () => {
  const text = failureText(new Error('the relay did not answer: fetch failed'), 'http://127.0.0.1:9876', '.dev')
  expect(text).toMatch(/relay at http:\/\/127\.0\.0\.1:9876 does not answer: .*npm start/)
  expect(failureText(new Error('waited 20 s in vain for the text'), 'http://x', '.dev')).toBe('waited 20 s in vain for the text')
})

it('the message about refused tokens names their folder and DOCRELAY_DEV_DIR', () => {
  const text = failureText(
    new RelayError('TOKEN_INVALID', 'The token is not valid.', { status: 401 }),
    'http://127.0.0.1:9876',
    '.dev',
  )
  expect(text).toMatch(/127\.0\.0\.1:9876 refuses the tokens in \.dev: .*DOCRELAY_DEV_DIR/)
})

const STARTED = {
  baseUrl: 'http://127.0.0.1:9876',
  links: [{ name: 'Ann', url: 'http://127.0.0.1:9876/console/#doc/minutes?as=ann' }],
  hasAgent: true,
  mcpUrl: null,
  issuerUrl: 'http://127.0.0.1:9880',
  state: '.dev',
  stateVariable: null,
  example: 'npm run example',
  mcpTokenFile: '.dev/data/mcp_token',
  people: [{ id: 'ann', role: 'owner' }],
}

it('npm start prints the command of the example with DOCRELAY_DEV_DIR when its state is in a folder of its own', () => {
  expect(startText(STARTED)).toContain('\n  npm run example ')
  expect(startText({ ...STARTED, stateVariable: '/tmp/other' })).toContain("\n  DOCRELAY_DEV_DIR='/tmp/other' npm run example ")
  expect(startText({ ...STARTED, example: null })).not.toContain('example')
})

it('npm start prints the links of the console before anything else', () => {
  const [, first = '', second = ''] = startText(STARTED).split('\n')
  expect(first).toBe('  Ann  http://127.0.0.1:9876/console/#doc/minutes?as=ann')
  expect(second).toContain('@agent list the open points')
  expect(startText({ ...STARTED, hasAgent: false })).not.toContain('@agent')
  expect(startText({ ...STARTED, links: [] })).toMatch(/^\nDocrelay is running\.\n/)
})
