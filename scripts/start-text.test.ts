import { expect, it } from 'vitest'
import { endedText, failureText } from './start-text.ts'

it('the message about a relay ended by a signal names the signal', () => {
  expect(endedText(null, 'SIGKILL')).toMatch(/ended by the signal SIGKILL.*npm start/)
  expect(endedText(1, null)).toBe('The relay ended with code 1; its log above says why.')
})

it('the message about a relay that went away while the example ran names its address and what to do', () => {
  const text = failureText(new Error('the relay did not answer: fetch failed'), 'http://127.0.0.1:9876')
  expect(text).toMatch(/relay at http:\/\/127\.0\.0\.1:9876 does not answer.*npm start/)
  expect(failureText(new Error('waited 20 s in vain for the text'), 'http://x')).toBe('waited 20 s in vain for the text')
})
