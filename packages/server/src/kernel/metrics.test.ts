import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { createMetrics, METRICS } from './metrics.ts'
import { startProcessMetrics } from './process-metrics.ts'

const build = { version: '1.2.3', commit: 'abc' }

describe('metrics', () => {
  it('[OPS-3] every scrape renders text format 0.0.4', async () => {
    const metrics = createMetrics(build)
    const first = await metrics.render()
    expect(first.contentType).toContain('version=0.0.4')
    expect((await metrics.render()).text).toBe(first.text)
    for (const line of first.text.split('\n')) expect(line).toMatch(/^$|^# (HELP|TYPE) |^[a-z_:]+(\{.*\})? \S+$/)
  })

  it('[OPS-4] every metric of the table is exposed with its type, and no other', async () => {
    const { text } = await createMetrics(build).render()
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map((match) => [match[1], match[2]])
    expect(Object.fromEntries(types)).toEqual(Object.fromEntries(Object.entries(METRICS).map(([name, row]) => [name, row.type])))
    expect(text).toContain('relay_build_info{version="1.2.3",commit="abc"} 1')
  })

  it('[OPS-4] counters add, gauges are set, histograms observe', async () => {
    const metrics = createMetrics(build)
    metrics.add('relay_bad_updates_total', 2)
    metrics.add('relay_bad_updates_total', 1)
    metrics.add('relay_ws_closes_total', 1, { code: '4401' })
    metrics.set('relay_ws_connections', 7, { role: 'viewer' })
    metrics.set('relay_jwks_cache_age_seconds', -1)
    metrics.observe('relay_log_append_seconds', 0.003)
    metrics.observe('http_server_request_duration_seconds', 0.02, { route: '/api/docs/:id', method: 'GET', code: '200' })
    const { text } = await metrics.render()
    expect(text).toContain('relay_bad_updates_total 3')
    expect(text).toContain('relay_ws_closes_total{code="4401"} 1')
    expect(text).toContain('relay_ws_connections{role="viewer"} 7')
    expect(text).toContain('relay_jwks_cache_age_seconds -1')
    expect(text).toContain('relay_log_append_seconds_bucket{le="0.005"} 1')
    expect(text).toContain('relay_log_append_seconds_bucket{le="0.002"} 0')
    expect(text).toContain('http_server_request_duration_seconds_count{route="/api/docs/:id",method="GET",code="200"} 1')
  })

  it('[OPS-3] no label contains a workspace, document, user or token', () => {
    const labels = Object.values(METRICS).flatMap((row): readonly string[] => row.labels)
    expect([...new Set(labels)].sort()).toEqual([
      'cause',
      'code',
      'commit',
      'direction',
      'kind',
      'listener',
      'method',
      'outcome',
      'reason',
      'role',
      'route',
      'state',
      'surface',
      'tool',
      'version',
    ])
  })

  it('[OPS-3] two registries share no values', async () => {
    const [one, other] = [createMetrics(build), createMetrics(build)]
    one.add('relay_sync_gaps_total', 5)
    expect((await other.render()).text).toContain('relay_sync_gaps_total 0')
  })

  it('[OPS-3] values are read before each scrape, and a failing reader does not affect the others', async () => {
    const metrics = createMetrics(build)
    let bytes = 0
    metrics.beforeScrape(() => Promise.reject(new Error('no')))
    metrics.beforeScrape(() => {
      throw new Error('no')
    })
    metrics.beforeScrape(() => metrics.set('relay_doc_cache_bytes', ++bytes))
    await metrics.render()
    expect((await metrics.render()).text).toContain('relay_doc_cache_bytes 2')
  })

  it('[OPS-4] memory and event loop lag of the process and the size of its volume are measured', async () => {
    const metrics = createMetrics(build)
    using _ = startProcessMetrics(metrics, { dataDir: tmpdir() })
    const { text } = await metrics.render()
    const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
    expect(value('relay_process_rss_bytes')).toBeGreaterThan(1_000_000)
    expect(value('relay_volume_total_bytes')).toBeGreaterThanOrEqual(value('relay_volume_used_bytes'))
    expect(value('relay_volume_available_bytes')).toBeGreaterThan(0)
    expect(value('nodejs_eventloop_lag_seconds')).toBeGreaterThanOrEqual(0)
  })
})
