import { prepareValue } from '@docrelay/model/body-prepare'
import type { DocumentHead } from '../../../documents/document-store.port.ts'
import { RelayError } from '../../../kernel/errors.ts'
import { type Fault, OWNER, planFaults } from './fault-plan.ts'
import { memoryDocuments } from './memory-documents.ts'
import type { Oracle, Violation } from './oracle.ts'
import type { Sabotage } from './sabotage.ts'
import { Choices, Schedule } from './schedule.ts'
import { type Front, SimClient } from './sim-client.ts'
import { SimDatabase } from './sim-database.ts'
import { SimNetwork } from './sim-network.ts'
import { ACCESS, SimNode, WORKSPACE, type World } from './sim-node.ts'
import { SimRegistry } from './sim-registry.ts'

export interface SimulationOptions {
  readonly seed: number
  readonly sabotage?: Sabotage
  /** Replaces the faults that the seed picks, to shorten a failing run. */
  readonly faults?: readonly Fault[]
}

export interface SimulationRun {
  readonly seed: number
  readonly faults: readonly Fault[]
  /** The first violation, which ends the run, or `null` when there was none. */
  readonly violation: Violation | null
  readonly history: readonly string[]
  readonly counts: SimulationCounts
}

export interface SimulationCounts {
  readonly steps: number
  readonly records: number
  readonly acknowledged: number
  readonly reads: number
  readonly refusedReads: number
  readonly takeovers: number
  readonly told: number
}

const NODES = ['a', 'b', 'c'] as const
const CLIENTS = 6
/** All nodes serve after this time. */
const BEGINS_MS = 1_500
/** How long clients edit and new faults begin. */
const BUSY_MS = 7_000
/** Everything must be at rest within this time after the busy time. A lease lasts 15 s. */
const QUIET_MS = 40_000
const LOOK_MS = 500
/** Each process gets a row of the feed within this time. */
const FEED_MS = 2_500
const EDITS = { from: 200, to: 1_400 }
const READS = { from: 100, to: 700 }
const CHANGES = { from: 300, to: 1_500 }
const BEFORE_CHECK_MS = 1_000

/** Plays one seed with nodes, clients, readers and faults until everything is at rest. The same options give the same run. */
export function simulate(options: SimulationOptions): Promise<SimulationRun> {
  return new Simulation(options).run()
}

class Simulation {
  readonly #options: SimulationOptions
  readonly #schedule = new Schedule()
  readonly #choices: Choices
  readonly #database: SimDatabase
  readonly #oracle: Oracle
  readonly #world: World
  readonly #network: SimNetwork
  readonly #faults: readonly Fault[]
  /** The newest process of each node. */
  readonly #nodes = new Map<string, SimNode>()
  /** The nodes that were ready at the last check of the load balancer. */
  readonly #green = new Set<SimNode>()
  readonly #clients: SimClient[] = []
  readonly #heads: DocumentHead[] = []
  readonly #hints: 'on' | 'faulty' | 'off'
  /** True when the load balancer sends all clients of one document to one node. */
  readonly #isSticky: boolean
  #isBusy = true
  #faultsEnded = 0
  #reads = 0
  #refusedReads = 0
  #processes = 0

  constructor(options: SimulationOptions) {
    this.#options = options
    const { seed } = options
    // The plan of faults has its own random choices, so that a shorter list of faults changes as few other things as possible.
    const plan = new Choices(3 * seed)
    this.#choices = new Choices(3 * seed + 1)
    const choices = this.#choices
    this.#faults = options.faults ?? planFaults(plan, NODES, BUSY_MS)
    this.#hints = plan.of(['on', 'faulty', 'off'])
    this.#isSticky = plan.percent(50)
    this.#database = new SimDatabase(this.#schedule, choices)
    this.#oracle = this.#database.oracle
    this.#network = new SimNetwork(this.#schedule, choices, plan.percent(20) ? 600 : 8 * 1024 * 1024)
    this.#world = {
      schedule: this.#schedule,
      choices,
      database: this.#database,
      registry: new SimRegistry(this.#database),
      network: this.#network,
      sabotage: options.sabotage ?? null,
      hint: (from, _workspaceId, id) => this.#hint(from, id),
    }
  }

  async run(): Promise<SimulationRun> {
    const schedule = this.#schedule
    const isFound = (): boolean => this.#oracle.found.length > 0
    await this.#createDocuments()
    for (const name of NODES) this.#startNode(name)
    this.#check()
    const startMs = schedule.nowMs + BEGINS_MS
    await schedule.until(startMs)
    for (const fault of this.#faults) schedule.after(fault.atMs, () => this.#strike(fault))
    for (const client of this.#clients) {
      client.start()
      this.#editLater(client)
    }
    this.#readLater()
    this.#changeLater()
    await schedule.until(startMs + BUSY_MS, isFound)
    this.#isBusy = false
    const untilMs = schedule.nowMs + QUIET_MS
    const rest = async (): Promise<void> => {
      while (!isFound() && schedule.nowMs < untilMs && !this.#isAtRest()) await schedule.until(schedule.nowMs + LOOK_MS, isFound)
    }
    await rest()
    if (!isFound()) await schedule.until(schedule.nowMs + FEED_MS + LOOK_MS, isFound)
    // Waits until everything is at rest a second time, because a node may refuse for a moment only now, after a heartbeat that the last
    // outage lost.
    await rest()
    if (!isFound()) this.#lookAtEnd()
    for (const node of this.#nodes.values()) node.end()
    return this.#outcome()
  }

  #outcome(): SimulationRun {
    const { seed } = this.#options
    const records = this.#heads.reduce((sum, { key }) => sum + this.#oracle.log(key).updates.length, 0)
    const { history } = this.#oracle
    return {
      seed,
      faults: this.#faults,
      violation: this.#oracle.found[0] ?? null,
      history,
      counts: {
        steps: this.#schedule.steps,
        records,
        acknowledged: this.#heads.reduce((sum, { key }) => sum + this.#oracle.ackedNames(key).length, 0),
        reads: this.#reads,
        refusedReads: this.#refusedReads,
        takeovers: history.filter((line) => line.includes('"taken":"')).length,
        told: this.#database.feed.rows.length,
      },
    }
  }

  async #createDocuments(): Promise<void> {
    const documents = memoryDocuments(this.#database.tables)
    const count = this.#choices.between(1, 3)
    for (let i = 1; i <= count; i++) this.#heads.push(await this.#create(documents, `doc-${i}`))
    for (let number = 1; number <= CLIENTS; number++) {
      const { key, id } = this.#heads[number % count] as DocumentHead
      const front: Front = { open: (listener) => this.#open(key, listener) }
      const { oracle } = this.#database
      this.#clients.push(
        new SimClient({ number, key, docId: id, front, oracle, schedule: this.#schedule, choices: this.#choices }),
      )
    }
  }

  async #create(documents: ReturnType<typeof memoryDocuments>, id: string): Promise<DocumentHead> {
    const prepared = prepareValue({ id, pages: [{ id: 'c1', name: 'Canvas', shapes: [] }] }, id, id)
    if (!prepared.ok) throw new Error(prepared.refusal.message)
    const { bytes, facts, blobReferences } = prepared.prepared
    const outcome = await documents.write({
      ref: { workspaceId: WORKSPACE, id },
      expect: { kind: 'absent' },
      set: { ownerId: 'ann', ownerName: 'ann', body: { bytes, facts, blobReferences } },
      bump: true,
      nowMs: 1,
      quotaBytes: null,
      log: { kind: 'cold' },
    })
    if (outcome.kind !== 'written') throw new Error('the document was not written')
    this.#oracle.created(outcome.head)
    return outcome.head
  }

  #startNode(name: string): void {
    const node = new SimNode(this.#world, name, `${name}${++this.#processes}`)
    this.#nodes.set(name, node)
    node.process.run(() => void node.start())
  }

  /** Checks every second which nodes are ready, as a load balancer does. */
  #check(): void {
    this.#schedule.after(BEFORE_CHECK_MS, () => this.#check())
    this.#green.clear()
    for (const node of this.#nodes.values()) if (!node.process.isPaused && node.isReady) this.#green.add(node)
  }

  #open(key: number, listener: Parameters<Front['open']>[0]): ReturnType<Front['open']> {
    const green = [...this.#green]
    const node = this.#isSticky ? green[key % green.length] : this.#choices.of(green)
    return node === undefined || node.process.hasEnded ? null : node.accept(listener)
  }

  #hint(from: SimNode, id: number): void {
    if (this.#hints === 'off') return
    for (const node of this.#nodes.values()) {
      if (node === from) continue
      const times = this.#hints === 'on' ? 1 : this.#choices.below(3)
      for (let i = 0; i < times; i++)
        this.#schedule.after(this.#choices.between(0, this.#hints === 'on' ? 3 : 300), () =>
          node.process.run(() => node.hint(id)),
        )
    }
  }

  #editLater(client: SimClient, slowness = this.#choices.of([1, 1, 4, 60])): void {
    this.#schedule.after(slowness * this.#choices.between(EDITS.from, EDITS.to), () => {
      if (!this.#isBusy) return
      client.edit()
      this.#editLater(client, slowness)
    })
  }

  #readLater(): void {
    this.#schedule.after(this.#choices.between(READS.from, READS.to), () => {
      if (this.#isBusy) this.#readLater()
      const nodes = [...this.#nodes.values()]
      const paused = nodes.filter(({ process }) => process.isPaused)
      const node = this.#choices.of(paused.length > 0 && this.#choices.percent(50) ? paused : nodes)
      const head = this.#choices.of(this.#heads)
      if (node !== undefined && head !== undefined) this.#read(node, head)
    })
  }

  /** Reads a document over REST at a node. A refused read is repeated until there were `tries` tries. */
  #read(node: SimNode, head: DocumentHead, tries = 4): void {
    const { id, key } = head
    const acked = this.#oracle.ackedNames(key)
    node.process.run(() => {
      if (node.life.phase === 'joining') return
      void node.documents.get(ACCESS, id).then(
        ({ record }) => {
          if (node.process.hasEnded) return
          this.#reads++
          this.#oracle.read(key, node.life.inc, record.body, acked)
        },
        (error: unknown) => {
          this.#refusedReads++
          const code = error instanceof RelayError ? error.code : String(error)
          this.#oracle.note(`read of ${key} at ${node.id} refused: ${code}`)
          if (code !== 'UNAVAILABLE') this.#oracle.violated('I10', `a read of ${key} was answered ${code}`)
          if (tries > 1) this.#schedule.after(this.#choices.between(20, 300), () => this.#read(node, head, tries - 1))
        },
      )
    })
  }

  /** Makes the reads that waited while a process was paused. */
  #readAfterPause(node: SimNode): void {
    for (const head of this.#heads)
      for (let i = 0; i < 3; i++) this.#schedule.after(this.#choices.between(0, 200), () => this.#read(node, head))
  }

  /** Later shares a document or moves it to a collection. Every node gets this change from the feed. */
  #changeLater(): void {
    this.#schedule.after(this.#choices.between(CHANGES.from, CHANGES.to), () => {
      if (!this.#isBusy) return
      this.#changeLater()
      const node = this.#choices.of([...this.#nodes.values()])
      const head = this.#choices.of(this.#heads)
      if (node === undefined || head === undefined) return
      const number = this.#choices.below(1_000)
      node.process.run(() => {
        const change =
          number % 2 === 0
            ? node.documents.setCollection(ACCESS, head.id, `collection-${number}`)
            : node.documents.replaceShares(ACCESS, head.id, [{ userId: `friend-${number}`, userName: null, permission: 'view' }])
        change.catch((error: unknown) => this.#oracle.note(`change at ${node.id} refused: ${String(error)}`))
      })
    })
  }

  #strike(fault: Fault): void {
    const { atMs: _, ...what } = fault
    this.#oracle.note(`fault ${JSON.stringify(what)}`)
    const end = (afterMs: number, work: () => void): void => {
      this.#schedule.after(afterMs, () => {
        this.#oracle.note(`end of ${JSON.stringify(what)}`)
        work()
        this.#faultsEnded++
      })
    }
    switch (fault.kind) {
      case 'part':
        this.#network.part(fault.a, fault.b, fault.isSilent)
        return end(fault.forMs, () => this.#network.join(fault.a, fault.b))
      case 'reset':
        return end(0, () => this.#network.reset(fault.a, fault.b))
      case 'slow-link':
        this.#network.slow(fault.a, fault.b, fault.mostMs)
        return end(fault.forMs, () => this.#network.slow(fault.a, fault.b, 2))
      case 'failover':
        this.#database.loseTails(fault.records)
        this.#cutDatabase(true)
        return end(fault.forMs, () => this.#cutDatabase(false))
      default:
        return this.#strikeNode(fault, this.#nodeOf(fault.node), end)
    }
  }

  #cutDatabase(isCut: boolean): void {
    for (const { line } of this.#nodes.values()) line.faults.isCut = isCut
  }

  #nodeOf(name: string): SimNode {
    const [first] = this.#heads
    const owner = first === undefined ? null : this.#database.ownership.ownerOf(first.key)
    const nodes = [...this.#nodes.values()]
    const found = name === OWNER ? nodes.find(({ life }) => life.inc === owner?.owner) : this.#nodes.get(name)
    return found ?? (nodes[0] as SimNode)
  }

  #strikeNode(fault: Extract<Fault, { node: string }>, node: SimNode, end: (afterMs: number, work: () => void) => void): void {
    const { faults } = node.line
    switch (fault.kind) {
      case 'pause':
        node.pause()
        return end(fault.forMs, () => {
          node.resume()
          this.#readAfterPause(node)
        })
      case 'crash':
        node.end()
        return end(fault.forMs, () => this.#restart(node))
      case 'drain':
        // A paused process gets the signal when it continues.
        node.process.run(() => void node.drain().then(() => this.#schedule.after(fault.forMs, () => this.#restart(node))))
        return end(fault.forMs, () => undefined)
      case 'no-database':
        faults.isCut = true
        return end(fault.forMs, () => {
          faults.isCut = false
        })
      case 'slow-database':
        faults.slowMs = fault.wayMs
        return end(fault.forMs, () => {
          faults.slowMs = 0
        })
      case 'lost-answers':
        faults.losesAnswers += fault.count
        return end(0, () => undefined)
      case 'rolled-back':
        faults.rollsBack += fault.count
        return end(0, () => undefined)
      case 'clock':
        node.process.wallOffsetMs += fault.byMs
        return end(0, () => undefined)
    }
  }

  /** Starts a process again that has ended, as a supervisor does. */
  #restart(node: SimNode): void {
    if (this.#nodes.get(node.name) === node && node.process.hasEnded) this.#startNode(node.name)
  }

  #isAtRest(): boolean {
    if (this.#faultsEnded < this.#faults.length) return false
    for (const node of this.#nodes.values()) {
      if (node.process.hasEnded) this.#restart(node)
      if (!node.isReady) return false
    }
    return this.#clients.every((client) => client.isSettled && this.#oracle.equalsLog(client.key, client.doc))
  }

  #lookAtEnd(): void {
    const due = this.#database.feed.rows.filter(({ atMs }) => atMs < this.#schedule.nowMs - FEED_MS).map(({ id }) => id)
    for (const node of this.#nodes.values()) {
      if (!node.isReady) this.#oracle.violated('I6', `${node.id} does not serve: ${node.life.phase}`)
      const untold = this.#oracle.untold(node.id, due)
      if (untold.length > 0) this.#oracle.violated('I8', `${node.id} was not told of ${untold.join()}`)
    }
    for (const client of this.#clients) {
      if (!client.isSettled) this.#oracle.violated('I6', `client ${client.doc.clientID} is not settled`)
      else if (!this.#oracle.equalsLog(client.key, client.doc))
        this.#oracle.violated('I6', `client ${client.doc.clientID} does not have what the log of ${client.key} has`)
    }
  }
}
