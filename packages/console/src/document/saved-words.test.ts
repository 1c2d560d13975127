import { type LiveDocument, RelayError, type RelayErrorCode } from '@docrelay/client'
import { describe, expect, it } from 'vitest'
import { messages } from '../messages.en.ts'
import { reasonOf, savedWords } from './saved-words.ts'

type State = LiveDocument['state']
const SAVED: State = { link: 'live', saved: 'saved', unsavedSince: null, error: null, level: 'edit', localCopy: 'on' }
const error = (code: RelayErrorCode) => new RelayError(code, `the relay says ${code}`)
const text = messages.document

describe('the words about the save state', () => {
  it.each<[string, Partial<State>, string]>([
    ['good when everything is durable', {}, 'Saved good'],
    ['not good without a connection, even when nothing is unsaved', { link: 'waiting' }, 'Offline bad'],
    ['about the connection while that is made', { link: 'connecting' }, 'Connecting … busy'],
    ['busy while edits are on their way', { saved: 'saving', unsavedSince: 1 }, 'Saving … busy'],
    ['bad when edits are only here', { saved: 'local', link: 'waiting', unsavedSince: 1 }, 'Not saved bad'],
    ['bad when the relay refuses them', { saved: 'refused', unsavedSince: 1 }, 'Not accepted bad'],
  ])('[CON-22] are %s', (_, state, told) => {
    const { word, tone } = savedWords({ ...SAVED, ...state })
    expect(`${word} ${tone}`).toBe(told)
  })

  it('[CON-22] say since when, why, and that the device keeps no copy', () => {
    const state: State = {
      ...SAVED,
      saved: 'local',
      link: 'waiting',
      unsavedSince: 1,
      localCopy: 'off',
      error: error('ERR_WORKSPACE_CONNECTION_LIMIT'),
    }
    expect(savedWords(state).sentences).toEqual([text.savedWhy.local, text.since(1), text.reasons.full, text.copyOff])
    // A document that is gone needs no copy on the device.
    expect(savedWords(state, true).sentences).toEqual([text.savedWhy.local, text.since(1), text.reasons.full])
  })

  it('[CON-22] give common reasons in plain words, and other reasons in the words of the relay', () => {
    expect(reasonOf(null)).toBeNull()
    expect(reasonOf(error('ERR_EDITOR_LIMIT'))).toBe(text.reasons.editors)
    expect(reasonOf(error('TOKEN_REVOKED'))).toBe(text.reasons.signIn)
    expect(reasonOf(error('NETWORK'))).toBe(text.reasons.network)
    expect(reasonOf(error('ERR_BAD_UPDATE'))).toContain('the relay says ERR_BAD_UPDATE')
  })
})
