import type { ListedShareLink } from '@docrelay/client'
import { useRef, useState } from 'preact/hooks'
import { Age } from '../app/age.tsx'
import { Problem } from '../app/problem.tsx'
import { formatMoment } from '../app/times.ts'
import { useAction, useLoaded } from '../app/use-relay.ts'
import type { PanelProps } from '../app/views.ts'
import { Button } from '../controls/button.tsx'
import { messages } from '../messages.en.ts'

const texts = messages.sharing
const DAY_MS = 86_400_000
const DAYS = [1, 7, 30, 365] as const
/** The relay accepts at most a year. A request stays a minute below, because the clocks may differ. */
const SLACK_MS = 60_000

/** The links that give people of the workspace the right to read. Only owners see them. */
export function ShareLinks({ session, document }: PanelProps) {
  const { relay, person, announce, now } = session
  const links = useLoaded((signal) => relay.shareLinks.list(document.id, { signal }), [relay, document.id])
  const changing = useAction()
  const heading = useRef<HTMLHeadingElement>(null)
  const [days, setDays] = useState<(typeof DAYS)[number]>(7)
  const [fresh, setFresh] = useState<string | null>(null)
  const [told, setTold] = useState('')

  const issue = () =>
    changing.run(async () => {
      const { url } = await relay.shareLinks.issue(document.id, { expiresAt: new Date(now() + days * DAY_MS - SLACK_MS) })
      setFresh(url)
      setTold('')
      announce(texts.issued)
      links.reload()
    })
  const revoke = (link: ListedShareLink) =>
    changing.run(async () => {
      await relay.shareLinks.revoke(document.id, link.id)
      setFresh(null)
      setTold(texts.revoked)
      announce(texts.revoked)
      links.reload()
      heading.current?.focus()
    })

  return (
    <>
      <h3 ref={heading} tabIndex={-1}>
        {texts.links}
      </h3>
      <p class="help">{texts.linksHelp}</p>
      <Problem words={changing.problem ?? links.problem} />
      <p class="issue">
        <label>
          {texts.expiry}{' '}
          <select value={days} onChange={({ currentTarget }) => setDays(Number(currentTarget.value) as (typeof DAYS)[number])}>
            {DAYS.map((count) => (
              <option key={count} value={count}>
                {texts.days[count]}
              </option>
            ))}
          </select>
        </label>
        <Button icon="add" disabled={changing.isRunning} onClick={issue}>
          {texts.issue}
        </Button>
      </p>
      {fresh !== null && <FreshLink url={fresh} announce={announce} />}
      <p class="told">{told}</p>
      {links.value?.length === 0 && <p class="help">{texts.noLinks}</p>}
      <ul class="panel-rows">
        {links.value?.map((link) => {
          const made = Date.parse(link.created_at)
          return (
            <li key={link.id}>
              <span class="name">
                {texts.link(link.created_by === person.sub ? texts.you : link.created_by)}
                <br />
                <span class="facts">
                  {texts.madeAt} <Age at={made} now={now} />, {texts.endsAt} <Age at={Date.parse(link.expires_at)} now={now} />
                </span>
              </span>
              <Button disabled={changing.isRunning} label={texts.revokeLink(formatMoment(made))} onClick={() => revoke(link)}>
                {texts.revoke}
              </Button>
            </li>
          )
        })}
      </ul>
    </>
  )
}

function FreshLink({ url, announce }: { readonly url: string; readonly announce: (text: string) => void }) {
  const field = useRef<HTMLInputElement>(null)
  const [told, setTold] = useState('')
  const copy = async () => {
    field.current?.select()
    const outcome = await navigator.clipboard.writeText(url).then(
      () => texts.copied,
      () => texts.copyFailed,
    )
    setTold(outcome)
    announce(outcome)
  }
  return (
    <div class="fresh-link">
      <label for="fresh-link">{texts.issued}</label>
      <div class="add-fields">
        <input ref={field} id="fresh-link" readOnly value={url} onFocus={({ currentTarget }) => currentTarget.select()} />
        <Button kind="primary" onClick={() => void copy()}>
          {texts.copy}
        </Button>
      </div>
      <p class="told">{told}</p>
    </div>
  )
}
