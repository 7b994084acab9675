"""Words are found by their forms in nine languages beside English."""

import pytest

pytest.importorskip("snowballstemmer")

from agent_memory_protocol.search.port import Passage, SearchIndex, source_of

MEMORIES = {
    "danish": [
        "Databasen bliver kopieret efter midnat, og det skal ikke ændres.",
        "Brugere skal ikke have adgang til serveren.",
        "Certifikaterne udløber i maj.",
    ],
    "dutch": [
        "De gebruikers worden niet automatisch verwijderd, maar na een maand.",
        "Het bestand met sleutels staat bij de server.",
        "De migratie wordt voor het starten uitgevoerd zonder fouten.",
    ],
    "french": [
        "Les serveurs sont dans la salle du bas, pour des raisons de bruit.",
        "La base est sauvegardée avec les fichiers, et migrée après la mise à jour.",
        "Une requête sur deux échoue, quel que soit le client.",
    ],
    "german": [
        "Die Datenbanken werden nach Mitternacht gesichert und geprüft.",
        "Der Schlüssel ist nicht auf dem Server, und das wird so bleiben.",
        "Fehlerhafte Zertifikate sind nur bei den alten Diensten ein Problem.",
    ],
    "italian": [
        "Le configurazioni sono nel repository, non una per macchina.",
        "Gli utenti della vecchia versione viene chiesto che cambino la password.",
        "Le prove dei moduli sono senza rete.",
    ],
    "portuguese": [
        "As configurações não ficam no servidor, para cada ambiente há uma.",
        "Os usuários são avisados depois da migração, quando o serviço foi parado.",
        "Os testes são executados sem rede, como na máquina local.",
    ],
    "russian": [
        "База копируется после полуночи и не на новый сервер.",
        "Ошибки пользователей видны только в журнале, как и пароли.",
        "Миграции выполняются из контейнера для тестов.",
    ],
    "spanish": [
        "Los servidores están en la sala, una por cada planta, para cuando falla la red.",
        "Las configuraciones del entorno son leídas solo al inicio.",
        "La contraseña es cambiada después por el usuario, sin aviso.",
    ],
    "swedish": [
        "Databasen kopieras efter midnatt och ska inte ändras.",
        "Tjänster som startas av servern blir inte kontrollerade.",
        "Certifikatet är bara giltigt till maj, att förnya det ska göras för hand.",
    ],
}
ASKED = {
    "danish": {"databaserne": 0, "brugeren": 1, "certifikat": 2},
    "dutch": {"gebruiker": 0, "bestanden": 1, "migraties": 2},
    "french": {"serveur": 0, "migrées": 1, "requêtes": 2},
    "german": {"Datenbank": 0, "Schlüsseln": 1, "Zertifikat": 2},
    "italian": {"configurazione": 0, "utente": 1, "prova": 2},
    "portuguese": {"configuração": 0, "usuário": 1, "teste": 2},
    "russian": {"базы": 0, "ошибка": 1, "миграция": 2},
    "spanish": {"servidor": 0, "configuración": 1, "contraseñas": 2},
    "swedish": {"databasernas": 0, "tjänst": 1, "certifikaten": 2},
}


def filled(index: SearchIndex, language: str) -> SearchIndex:
    index.refresh([source_of("a", *(Passage(str(place), text) for place, text in enumerate(MEMORIES[language])))])
    return index


@pytest.mark.slow
@pytest.mark.parametrize("language", MEMORIES)
def test_a_word_is_found_by_another_form_of_it(index, language):
    index = filled(index, language)
    assert {query: [hit.key for hit in index.search(query)] for query in ASKED[language]} == {
        query: [str(place)] for query, place in ASKED[language].items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("language", MEMORIES)
def test_another_form_is_not_called_a_slip(index, language):
    index = filled(index, language)
    assert [hit.meant for query in ASKED[language] for hit in index.search(query)] == [()] * len(ASKED[language])


def test_a_known_word_is_found_inside_longer_ones_where_a_language_writes_words_together(index):
    texts = ["Das Schloss ist alt.", "Der Schlossgarten wird nicht und nie geprüft.", "Ein Schlosser.", "Der Schlot."]
    index.refresh([source_of("a", *(Passage(str(place), text) for place, text in enumerate(texts)))])
    assert sorted(hit.key for hit in index.search("Schloss")) == ["0", "1", "2"]
    assert index.search("Schloss", limit=1)[0].key == "0"


def test_words_of_a_memory_in_english_are_stemmed_in_english_alone(index):
    index.refresh([source_of("a", Passage("1", "The tested server."), Passage("2", "Pay per tester."))])
    assert [hit.key for hit in index.search("testo")] == []


def test_without_the_stemmers_a_word_is_found_as_it_is_written(index, monkeypatch):
    monkeypatch.setattr("agent_memory_protocol.search.languages._HAS_STEMMERS", False)
    index = filled(index, "german")
    assert index.search("Diensts") == []
    assert [hit.key for hit in index.search("Datenbanken")] == ["0"]
