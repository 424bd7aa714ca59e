"""Training jobs: is it learning, how fast, and which rank holds the others up."""

from dashboards.metrics import of, rate
from dashboards.shapes import CLUSTER, JOBS, lines, series, stat
from dashboards.spec import FAIR, GOOD, Column, Dashboard, Panel, Query, Section
from forewarn.language import Text

_JOB = "{{job}}"

_NOW = Section((
    stat(Text("Jobs", "作业"), f"count({of('job_step_seconds')})", "short"),
    stat(Text("Ranks", "进程数"), f"count({of('rank_step_seconds')})", "short"),
    stat(Text("Steps done", "已完成步数"), f"max({of('job_completed_steps_total')})", "short"),
    stat(Text("Loss", "损失"), f"max({of('job_loss')})"),
    stat(Text("Step", "步时"), f"max({of('job_step_seconds')})"),
    stat(Text("MFU", "MFU"), f"min({of('job_mfu_ratio')})"),
    stat(Text("Tokens", "吞吐"), f"sum({of('job_tokens_per_second')})"),
    stat(Text("Last checkpoint", "最近一次检查点"), f"max({of('job_checkpoint_seconds')})"),
))  # fmt: skip

_LEARNING = Section(
    (
        series(Text("Loss", "损失"), of("job_loss"), _JOB, width=12),
        series(Text("Gradient norm", "梯度范数"), of("job_gradient_norm"), _JOB, width=12),
    ),
    Text("Learning", "训练状态"),
)

_SPEED = Section(
    (
        series(Text("Step time", "步时"), of("job_step_seconds"), _JOB),
        series(Text("Tokens", "吞吐"), of("job_tokens_per_second"), _JOB),
        series(Text("MFU", "MFU"), of("job_mfu_ratio"), _JOB),
        series(Text("Steps", "步进速率"), rate("job_completed_steps_total"), _JOB,
               about=Text("Zero while the job should go on is a hang.",
                          "作业应在进行而此值为零，即为挂死。")),
        series(Text("Checkpoints", "检查点耗时"), of("job_checkpoint_seconds"), _JOB),
        series(Text("Tokens in a step", "每步词元数"), of("job_tokens_per_step"), _JOB),
    ),
    Text("Speed", "速度"),
)  # fmt: skip

_PARTS = (
    ("rank_compute_seconds", Text("{{job}}: computing", "{{job}}：计算")),
    ("rank_data_wait_seconds", Text("{{job}}: waiting for data", "{{job}}：等待数据")),
    ("rank_communication_seconds", Text("{{job}}: communication", "{{job}}：通信")),
)

_RANKS = Section(
    (
        lines(Text("What a step is made of", "一步的构成"),
              tuple(Query(f"avg by (job) ({of(name)})", text) for name, text in _PARTS),
              width=12, stacked=True, about=Text("Mean over the ranks.", "各进程的平均值。")),
        Panel(kind="heat", title=Text("Compute time of all ranks", "全部进程的计算时间分布"),
              queries=(Query(f"max by (job, rank) ({of('rank_compute_seconds')})"),), width=12,
              about=Text("One slow rank stands apart; the others wait for it.",
                         "慢进程会单独偏离，其余进程都在等它。")),
        series(Text("The ten slowest in computing", "计算最慢的十个进程"),
               f"topk(10, {of('rank_compute_seconds')})", "{{job}} rank {{rank}}"),
        series(Text("The ten that wait longest for data", "等待数据最久的十个进程"),
               f"topk(10, {of('rank_data_wait_seconds')})", "{{job}} rank {{rank}}"),
        series(Text("Slowest over median", "最慢与中位数之比"),
               f"max by (job) ({of('rank_compute_seconds')})"
               f" / quantile by (job) (0.5, {of('rank_compute_seconds')})", _JOB, "short",
               about=Text("1 is even. What is above it is what the slowest rank costs all.",
                          "1 为均衡；超出部分即最慢进程拖累全体的代价。")),
        Panel(
            kind="table", title=Text("Ranks", "进程"), width=24, height=10,
            keys=(("job", Text("Job", "作业")), ("rank", Text("Rank", "进程"))),
            columns=(
                Column(Text("Computing", "计算"),
                       f"max by (job, rank) ({of('rank_compute_seconds')})"),
                Column(Text("Waiting for data", "等待数据"),
                       f"max by (job, rank) ({of('rank_data_wait_seconds')})"),
                Column(Text("Communication", "通信"),
                       f"max by (job, rank) ({of('rank_communication_seconds')})"),
                Column(Text("Over the median", "与中位数之比"),
                       f"max by (job, rank) ({of('rank_compute_seconds')}) / on (job) group_left"
                       f" quantile by (job) (0.5, {of('rank_compute_seconds')})", "short",
                       ((GOOD, None), (FAIR, 1.05))),
            ),
        ),
    ),
    Text("Ranks", "进程"),
)  # fmt: skip

JOB = Dashboard(
    name="job",
    title=Text("Forewarn · Job", "Forewarn · 作业"),
    about=Text("Training jobs: is it learning, how fast, and which rank holds the others up.",
               "训练作业：是否在学习、速度如何、哪个进程拖慢全体。"),
    variables=(CLUSTER, JOBS),
    sections=(_NOW, _LEARNING, _SPEED, _RANKS),
)  # fmt: skip
