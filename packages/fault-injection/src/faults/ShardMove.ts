import type { Fault } from "../harness/Trial.ts"

export const shardMove: Fault = {
  name: "shard-move",
  promise:
    "a cluster moves a shard to another node under load, and rebalances; every acknowledged event is stored once",
  storages: ["citus"],
  rounds: 3,
  run: async (trial) => {
    if (trial.store.kind !== "citus") return
    const { cluster, schema } = trial.store
    const shards = () =>
      cluster.run(`SELECT shardid, nodename, nodeport FROM citus_shards
        WHERE table_name = '"${schema}".events'::regclass ORDER BY shardid`)
    const servers = [await trial.serve(), await trial.serve()]
    let moves = 0
    await trial.eachRound(async (round) => {
      const random = trial.random(round)
      const loads = await Promise.all(
        servers.map((server, n) => trial.load(server, { name: `round ${round}, server ${n}`, clients: 8 }))
      )
      const acknowledged = (count: number) => Promise.all(loads.map((load) => load.acknowledged(count)))
      await acknowledged(random(1, 50))
      const before = await shards()
      const shard = before[random(0, before.length - 1)]!
      const others = cluster.workers.filter(({ port }) => port !== Number(shard["nodeport"]))
      const target = others[random(0, others.length - 1)]!
      await cluster.run(`SELECT citus_move_shard_placement(${shard["shardid"]}, '${shard["nodename"]}', ${shard["nodeport"]},
        '${target.host}', ${target.port})`)
      await acknowledged(20)
      const between = await shards()
      await cluster.run("SELECT citus_rebalance_start(rebalance_strategy := 'by_shard_count')")
      await cluster.run("SELECT citus_rebalance_wait()")
      await acknowledged(20)
      const after = await shards()
      const isElsewhere = (row: (typeof after)[number], index: number) => row["nodeport"] !== after[index]!["nodeport"]
      trial.expect(between.some(isElsewhere), `round ${round}: rebalancing moved nothing`)
      moves += 1 + between.filter(isElsewhere).length
      for (const load of loads) trial.sent(await load.stop())
    })
    trial.note(`${moves} shards were moved`)
  }
}
