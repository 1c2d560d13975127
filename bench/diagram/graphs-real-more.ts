import { diagram } from './diagram-text.ts'
import type { Graph } from './graph.ts'

/** More diagrams of real systems; some have labels in other scripts or with very long words. */
export const moreRealGraphs: readonly Graph[] = [
  diagram(
    'Behörden',
    'TB',
    `vorstand = Vorstand der Donaudampfschifffahrtsgesellschaft
    recht = Rechtsabteilung
    personal = Personalwirtschaft
    technik = Technische Instandhaltung
    betrieb = Betriebsleitung
    kapitäne = Donaudampfschifffahrtsgesellschaftskapitänsvereinigung
    wartung = Elektrizitätshauptbetriebswerk
    lohn = Lohnbuchhaltung
    ausbildung = Berufsbildungszentrum
    versicherung = Rechtsschutzversicherungsgesellschaften
    fahrplan = Fahrplanauskunft
    hafen = Hafenverwaltung
    aufsicht = Rindfleischetikettierungsüberwachungsaufgabenübertragungsstelle
    vorstand -> recht
    vorstand -> personal
    vorstand -> technik
    vorstand -> betrieb
    betrieb -> kapitäne
    technik -> wartung
    personal -> lohn
    personal -> ausbildung
    recht -> versicherung: Vertrag
    recht -> aufsicht
    betrieb -> fahrplan
    betrieb -> hafen
    aufsicht -> vorstand: Bericht
    ausbildung -> kapitäne
    wartung -> hafen`,
  ),
  diagram(
    '供应链',
    'LR',
    `supplier = 供应商
    parts = 零部件仓库
    plan = 生产计划系统
    factory = 工厂
    quality = 质量检验
    warehouse = 中央仓库
    export = 出口报关与国际货运代理服务部门
    east = 华东配送中心
    south = 华南配送中心
    shop = (门店)
    online = (电商平台)
    customer = (顾客)
    after = 售后服务
    supplier -> parts: 送货
    parts -> factory
    plan -> factory: 工单
    plan -> supplier: 采购订单
    factory -> quality
    quality -> warehouse: 合格
    quality -> factory: 返工
    warehouse -> east
    warehouse -> south
    warehouse -> export
    east -> shop
    south -> shop
    east -> online
    south -> online
    shop -> customer
    online -> customer
    customer -> after: 退货
    after -> warehouse
    online -> plan: 需求预测`,
  ),
  diagram(
    '受注処理',
    'TB',
    `web = ウェブサイト
    tel = 電話受付
    order = 受注管理システム
    credit = 与信審査
    stock = 在庫引当
    reject = お断りのご連絡
    pick = ピッキングリスト作成
    pack = 梱包
    ship = 出荷
    bill = 請求書発行
    pay = 入金確認
    done = (完了)
    remind = 督促
    web -> order
    tel -> order
    order -> credit
    credit -> stock: 承認
    credit -> reject: 否認
    stock -> pick
    stock -> order: 欠品
    pick -> pack
    pack -> ship
    ship -> bill
    bill -> pay
    pay -> done
    pay -> remind: 未入金
    remind -> pay
    reject -> done`,
  ),
  diagram(
    'incident',
    'TB',
    `alert = 🚨 Alert fires
    ack = 👩‍💻 On-call acknowledges
    triage = 🔍 Triage
    severe = 🔥 Severe?
    room = 📞 Open incident room
    comms = 📣 Status page
    fix = 🛠️ Mitigate
    verify = ✅ Verify
    monitor = 📈 Watch for an hour
    close = 🎉 Close
    review = 📝 Review without blame
    actions = 🗂️ Action items
    alert -> ack
    ack -> triage
    triage -> severe
    severe -> room: yes
    severe -> fix: no
    room -> comms
    room -> fix
    fix -> verify
    verify -> fix: still broken
    verify -> monitor
    monitor -> close
    comms -> close
    close -> review
    review -> actions
    actions -> alert: better alerts`,
  ),
  diagram(
    'event-driven bank',
    'LR',
    `teller = (Teller)
    mobile = (Mobile banking)
    partner = (Partner bank)
    edge = Edge gateway
    commands = Command topic
    accounts = Accounts
    transfers = Transfers
    limits = Limits
    fraud = Fraud detection
    sanctions = Sanctions screening
    ledger = General ledger
    events = Event log
    balances = Balance view
    statements = Statement view
    analytics = Analytics view
    regulator = (Regulator)
    notify = Notifications
    archive = Archive for ten years
    clearing = Clearing adapter
    teller -> edge
    mobile -> edge
    edge -> commands
    commands -> accounts
    commands -> transfers
    transfers -> limits
    transfers -> fraud
    transfers -> sanctions
    limits -> ledger
    fraud -> ledger
    sanctions -> ledger
    accounts -> ledger
    ledger -> events
    events -> balances
    events -> statements
    events -> analytics
    events -> notify
    events -> archive
    balances -> edge: read
    statements -> edge: read
    analytics -> fraud: model
    analytics -> regulator
    transfers -> clearing
    clearing -> partner
    partner -> clearing
    clearing -> events
    notify -> mobile: push`,
  ),
  diagram(
    'document relay',
    'TB',
    `editor = (Editor in a browser)
    agent = (Agent)
    rest = (Script)
    socket = WebSocket gateway
    mcp = MCP endpoint
    http = REST routes
    auth = Tokens and access
    limits = Rate limits
    rooms = Rooms
    guard = Guard
    documents = Documents
    tools = Tools
    model = Document model
    log = Update log
    bodies = Bodies
    blobs = Blob store
    recovery = Recovery points
    previews = Previews
    sqlite = SQLite or PostgreSQL
    disk = Disk or object storage
    metrics = Metrics
    editor -> socket
    agent -> mcp
    rest -> http
    socket -> auth
    mcp -> auth
    http -> auth
    socket -> limits
    mcp -> limits
    http -> limits
    socket -> rooms
    rooms -> guard
    rooms -> model
    mcp -> tools
    tools -> model
    tools -> documents
    http -> documents
    http -> blobs
    http -> previews
    documents -> rooms: when resident
    documents -> bodies
    rooms -> log
    rooms -> bodies
    documents -> recovery
    previews -> model
    log -> sqlite
    bodies -> sqlite
    recovery -> sqlite
    blobs -> disk
    blobs -> sqlite
    socket -> metrics
    mcp -> metrics
    http -> metrics`,
  ),
  diagram(
    'model training',
    'TB',
    `raw = Raw corpus
    dedupe = Deduplication
    filter = Quality filter
    tokens = Tokenizer
    shards = Shards
    config = Experiment configuration
    sweep = Hyperparameter sweep
    train = Distributed training
    checkpoint = Checkpoints
    eval = Evaluation suite
    leaderboard = Leaderboard
    tune = Supervised fine-tuning
    labels = Human labels
    reward = Reward model
    rl = Reinforcement learning
    red = Red team
    quant = Quantisation
    serve = Serving fleet
    logs = Conversation logs
    raw -> dedupe
    dedupe -> filter
    filter -> tokens
    filter -> shards
    tokens -> shards
    shards -> train
    config -> sweep
    sweep -> train
    train -> checkpoint
    checkpoint -> eval
    checkpoint -> train: resume
    eval -> leaderboard
    eval -> sweep: next trial
    checkpoint -> tune
    labels -> tune
    labels -> reward
    tune -> rl
    reward -> rl
    rl -> eval
    rl -> red
    red -> labels: new cases
    rl -> quant
    quant -> serve
    serve -> logs
    logs -> labels
    logs -> raw`,
  ),
  diagram(
    'hospital',
    'LR',
    `arrive = (Patient arrives)
    desk = Front desk
    triage = Triage nurse
    red = Resuscitation
    yellow = Examination
    green = Waiting room
    lab = Laboratory
    xray = X-ray
    mri = Magnetic resonance imaging
    doctor = Doctor's decision
    theatre = Operating theatre
    icu = Intensive care
    ward = Ward
    pharmacy = Pharmacy
    bill = Billing
    home = (Home)
    arrive -> desk
    arrive -> red: ambulance
    desk -> triage
    triage -> red
    triage -> yellow
    triage -> green
    green -> yellow
    yellow -> lab
    yellow -> xray
    yellow -> mri
    lab -> doctor
    xray -> doctor
    mri -> doctor
    red -> theatre
    red -> icu
    doctor -> theatre
    doctor -> ward
    doctor -> pharmacy
    theatre -> icu
    icu -> ward
    ward -> pharmacy
    ward -> lab: daily
    pharmacy -> bill
    bill -> home`,
  ),
]
