import type { RelayUnderTest } from '../../relay-under-test.ts'
import { post } from './mcp-post.ts'
import type { Witnesses } from './witnesses.ts'
import type { TypedCharacter } from './words.ts'
import type { ToldCall } from './writing-agent.ts'

/** The letters that people typed, and the calls that may have removed them. */
export interface Losing {
  readonly expected: readonly TypedCharacter[]
  readonly calls: readonly ToldCall[]
  readonly witnesses: Witnesses
  /** Ids of the calls undone in earlier rounds; `undoAll` adds those of this round. */
  readonly undoneBefore: Set<string>
}

export interface Undone {
  /** Expected letters that are missing after the undos. */
  readonly gone: readonly TypedCharacter[]
  /** Missing letters that no undo named as kept. */
  readonly notBack: readonly TypedCharacter[]
  /** Missing letters that cannot be judged, because an undo listed only some of the blocks that it kept. */
  readonly notJudged: readonly TypedCharacter[]
  /** For each letter that came back, the id of the call whose undo restored it. */
  readonly removedBy: ReadonlyMap<string, string>
  /** The undos in order, with the letters that each restored or removed. */
  readonly undos: readonly { readonly callId: string; readonly came: string; readonly went: string; readonly result: object }[]
}

/** Undoes every call that can be undone, the newest first. [AG-98] */
export async function undoAll(
  relay: RelayUnderTest,
  docId: string,
  { expected, calls, witnesses, undoneBefore }: Losing,
): Promise<Undone> {
  const bearer = relay.token({ sub: 'undoer', role: 'owner' })
  // Agents also undid calls. Blocks that these undos kept stay, because a call can be undone only once.
  let kept = calls.map((call) => call.kept).join('')
  let isCut = false
  const removedBy = new Map<string, string>()
  const undos: Undone['undos'][number][] = []
  const stored = async () => JSON.stringify(await relay.rest().getDocument(docId))
  const lettersIn = (all: string) => new Set(expected.flatMap(({ text }) => (all.includes(text) ? text : [])))
  let there = lettersIn(await stored())
  for (const callId of await undoableCalls(relay, docId)) {
    // Skips a call whose undo in an earlier round changed nothing, because others had changed everything, and calls that put the page back.
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

/** Returns the ids of all calls that can be undone, newest first: neither undone calls nor undos. [AG-73] */
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
