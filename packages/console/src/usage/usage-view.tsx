import type { Usage } from '@docrelay/client'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { formatBytes } from '../app/amounts.ts'
import { Problem } from '../app/problem.tsx'
import { useLoaded } from '../app/use-relay.ts'
import type { Session } from '../app/views.ts'
import { Button } from '../controls/button.tsx'
import { Loading } from '../controls/notice.tsx'
import { messages } from '../messages.en.ts'
import './usage.css'

const texts = messages.usage
const numbers = new Intl.NumberFormat('en')
const RENEW_MS = 10_000
/** The meter warns when at least this part of a limit is used. */
const NEARLY_FULL = 0.9

/** Shows what the workspace uses, its limits, and where each limit comes from. [REST-28] */
export function UsageView({ session }: { readonly session: Session }) {
  const { relay, person } = session
  const usage = useLoaded((signal) => relay.usage({ signal }), [relay])
  const { reload } = usage
  useEffect(() => {
    const timer = setInterval(reload, RENEW_MS)
    return () => clearInterval(timer)
  }, [reload])
  return (
    <main class="usage-view" data-workspace={person.workspace}>
      <header>
        <h1>{texts.title}</h1>
        <Button onClick={reload}>{texts.reload}</Button>
      </header>
      <p class="help">{texts.of(person.workspace)}</p>
      <Problem words={usage.problem} />
      {usage.value !== null ? <Meters usage={usage.value} /> : usage.problem === null && <Loading text={texts.loading} />}
    </main>
  )
}

function Meters({ usage }: { readonly usage: Usage }) {
  const { writes, sources } = usage
  return (
    <div class="meters">
      <Meter name={texts.storage} used={usage.storageBytes} limit={usage.storageQuota} format={formatBytes}>
        <p>
          {texts.documents(formatBytes(usage.docBytes))}, {texts.files(formatBytes(usage.blobBytes))}. {texts.points}{' '}
          {texts.config(formatBytes(usage.configBytes))}
        </p>
        <Source of={sources.storageQuota} limit={usage.storageQuota} />
      </Meter>
      <Meter name={texts.editors} used={usage.activeEditors} limit={usage.editorLimit}>
        <Source of={sources.editorLimit} limit={usage.editorLimit} />
      </Meter>
      <Meter name={texts.connections} used={usage.connections} limit={usage.connectionLimit}>
        <p>{texts.connectionsHelp}</p>
        <Source of="config" limit={usage.connectionLimit} />
      </Meter>
      {writes !== null && (
        <Meter
          name={texts.writes}
          used={writes.burst - writes.left}
          limit={writes.burst}
          words={texts.writesUsed(numbers.format(writes.burst - writes.left), numbers.format(writes.burst))}
        >
          <p>{texts.writesHelp(numbers.format(writes.perSecond))}</p>
          <Source of="config" limit={writes.burst} />
        </Meter>
      )}
      <section>
        <h2>{texts.document}</h2>
        <p class="amount">{texts.documentMost(usage.maxDocBytes === null ? null : formatBytes(usage.maxDocBytes))}</p>
        <div class="help">
          <Source of={sources.maxDocBytes} limit={usage.maxDocBytes} />
        </div>
      </section>
    </div>
  )
}

/** Names where a limit comes from; shows nothing without a limit. */
function Source({ of, limit }: { readonly of: 'claim' | 'config'; readonly limit: number | null }) {
  return limit === null ? null : <p>{texts.source[of]}</p>
}

function Meter(props: {
  readonly name: string
  readonly used: number
  readonly limit: number | null
  readonly format?: (amount: number) => string
  readonly words?: string
  readonly children: ComponentChildren
}) {
  const { name, used, limit, format = (amount) => numbers.format(amount) } = props
  const words = props.words ?? texts.meter(format(used), limit === null ? null : format(limit))
  const isFull = limit !== null && used >= limit * NEARLY_FULL
  return (
    <section class={isFull ? 'is-full' : ''}>
      <h2>{name}</h2>
      <p class="amount">
        {words} {isFull && <strong class="full">{texts.full}</strong>}
      </p>
      {limit !== null && <meter aria-label={name} min={0} max={limit} high={limit * NEARLY_FULL} value={used} />}
      <div class="help">{props.children}</div>
    </section>
  )
}
