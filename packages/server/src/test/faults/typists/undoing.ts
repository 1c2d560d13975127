import type { RelayUnderTest } from '../../relay-under-test.ts'
import { post } from './mcp-post.ts'
import type { Witnesses } from './witnesses.ts'
import type { TypedCharacter } from './words.ts'
import type { ToldCall } from './writing-agent.ts'

/** Letters that people typed, and calls that may have removed them. */
export interface Losing {
  readonly expected: readonly TypedCharacter[]
  readonly calls: readonly ToldCall[]
  readonly witnesses: Witnesses
  /** Ids of the calls of earlier rounds; those of this round are added. */
  readonly undoneBefore: Set<string>
}

export interface Undone {
  /** What is not there afterwards. */
  readonly gone: readonly TypedCharacter[]
  /** Of these, what is not named as kept. */
  readonly notBack: readonly TypedCharacter[]
  /** What is not there afterwards while a list of what was kept was cut, so that nobody can say whether it was named. */
  readonly notJudged: readonly TypedCharacter[]
  /** For each letter that came back, the call whose undo brought it. */
  readonly removedBy: ReadonlyMap<string, string>
  /** The undos in their order, with the letters that each of them brought or took. */
  readonly undos: readonly { readonly callId: string; readonly came: string; readonly went: string; readonly result: object }[]
}

/** Undoes every call that can be undone, the newest first. [AG-98] */
export async function undoAll(
  relay: RelayUnderTest,
  docId: string,
  { expected, calls, witnesses, undoneBefore }: Losing,
): Promise<Undone> {
  const bearer = relay.token({ sub: 'undoer', role: 'owner' })
  // Agents undid calls too. What these undos kept stays, as nothing can be undone twice.
  let kept = calls.map((call) => call.kept).join('')
  let isCut = false
  const removedBy = new Map<string, string>()
  const undos: Undone['undos'][number][] = []
  const stored = async () => JSON.stringify(await relay.rest().getDocument(docId))
  const lettersIn = (all: string) => new Set(expected.flatMap(({ text }) => (all.includes(text) ? text : [])))
  let there = lettersIn(await stored())
  for (const callId of await undoableCalls(relay, docId)) {
    // Nothing of it was undone as others had changed all of it.
    if (undoneBefore.has(callId)) continue
    undoneBefore.add(callId)
    const { result } = await post({ url: () => relay.mcpUrl, bearer, tool: 'undo', args: { docId, callId } })
    if (typeof result['code'] === 'string') console.log(`${callId} was not undone: ${result['code']}`)
    isCut ||= result['keptTotal'] !== undefined
    kept += JSON.stringify(result['kept'] ?? '')
    const now = lettersIn(await stored())
    const came = [...now].filter((letter) => !there.has(letter))
    const went = [...there].filter((letter) => !now.has(letter))
    undos.push({ callId, came: came.join(''), went: went.join(''), result })
    for (const letter of came) if (!removedBy.has(letter)) removedBy.set(letter, callId)
    there = now
  }
  const isKept = (letter: string) =>
    kept.includes(letter) || [...witnesses.lastSeenIn(letter)].some((id) => kept.includes(JSON.stringify(id)))
  const gone = expected.filter(({ text }) => !there.has(text))
  const notBack = gone.filter(({ text }) => !isKept(text))
  const judged = isCut ? { notBack: [], notJudged: notBack } : { notBack, notJudged: [] }
  return { gone, ...judged, removedBy, undos }
}

/** Ids of all calls whose work is still there, the newest first: neither undone calls nor the undos of them. [AG-73] */
async function undoableCalls(relay: RelayUnderTest, docId: string): Promise<readonly string[]> {
  const ids: string[] = []
  for (let cursor: string | undefined; ; ) {
    const query = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const answer = await relay.fetch(`/api/v1/docs/${docId}/calls?limit=100${query}`, {
      headers: { authorization: `Bearer ${relay.token({ sub: 'undoer', role: 'owner' })}` },
    })
    const page = (await answer.json()) as { calls: { callId: string; tool: string; undoneBy?: string }[]; nextCursor?: string }
    ids.push(...page.calls.filter(({ tool, undoneBy }) => tool !== 'undo' && undoneBy === undefined).map(({ callId }) => callId))
    if (page.nextCursor === undefined) return ids
    cursor = page.nextCursor
  }
}
