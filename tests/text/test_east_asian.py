"""Denials in Chinese, Japanese and Korean: found where a sentence only gets a “not”, and nowhere else."""

from agent_memory_protocol import Workspace
from agent_memory_protocol.text.alike import denials, same
from agent_memory_protocol.text.nearly import is_near

from ..each_row import each_row

DENIED = [
    ("缓存会在部署后清空。", "缓存不会在部署后清空。"),
    ("登录服务使用 Redis。", "登录服务不再使用 Redis。"),
    ("登录服务使用 Redis。", "登录服务没有使用 Redis。"),
    ("请直接推送到主分支。", "请勿直接推送到主分支。"),
    ("キャッシュはデプロイ後に消えます。", "キャッシュはデプロイ後に消えません。"),
    ("ログインには Redis を使う。", "ログインには Redis を使わない。"),
    ("夜間ジョブはまだ動いている。", "夜間ジョブはもう動いていない。"),
    ("メインに直接プッシュできる。", "メインに直接プッシュできない。"),
    ("캐시는 배포 후에 비워집니다.", "캐시는 배포 후에 비워지지 않습니다."),
    ("로그인 서비스는 Redis를 사용한다.", "로그인 서비스는 더 이상 Redis를 사용하지 않는다."),
    ("설정 파일을 먼저 읽는다.", "설정 파일을 먼저 읽지 않는다."),
    ("메인에 직접 푸시할 수 있다.", "메인에 직접 푸시할 수 없다."),
]
AGREED = [
    ("缓存会在部署后清空。", "缓存会在发布后清空。"),
    ("登录服务不使用 Redis。", "登录服务不使用Redis。"),
    ("缓存不会在部署后清空。", "数据库会在部署后清空。"),
    ("キャッシュは消えません。", "キャッシュは消えない。"),
    ("캐시를 사용하지 않는다.", "캐시를 사용하지 않습니다."),
    ("缓存会清空吗？", "缓存不会清空吗？"),
]


@each_row("said, denied", DENIED)
def test_a_sentence_that_only_gets_a_not_denies_the_other(said, denied):
    assert [(one.denying, one.said) for one in denials([said, denied])] == [(1, 0)]
    assert [(one.denying, one.said) for one in denials([denied, said])] == [(0, 1)]
    assert not same(said, denied)
    assert not is_near(said, denied)


@each_row("one, other", AGREED)
def test_what_says_no_more_often_not_denies_nothing(one, other):
    assert [*denials([one, other])] == []


@each_row("said, denied", DENIED)
def test_a_writer_is_told_at_once_what_is_denied(said, denied, tmp_path):
    home = tmp_path / str(abs(hash(said + denied)))
    home.mkdir()
    here = Workspace.open(home, environ={"HOME": str(home)})
    here.remember(said)
    assert "says the opposite" in " ".join(here.remember(denied).notes)
